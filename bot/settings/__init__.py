"""Settings: one typed registry, layers with provenance, and the frozen `Config` that comes of them.

`registry` says which settings exist, `setting` what one is, `layers` which value wins and what it displaced,
`live` what counts at this moment, `document` what a config file may hold, `config` puts them together,
`paths` says where things lie. Nothing here reads the process environment except `config.for_process`;
nothing here decides what an action may do.
"""
