"""doctor: finds what costs people days, and says how to mend it (X16).

`findings` judges facts and is pure; `probes` gathers them from this machine and the fleet; `examine` runs one
over the other. It changes nothing and mends nothing itself.
"""

from bot.doctor.examine import examine
from bot.doctor.findings import Finding, Status

__all__ = ["Finding", "Status", "examine"]
