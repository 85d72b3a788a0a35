"""Setup: what to do where, as text. Pure; docs/signals.md says more about each step."""

from adapters.webhook.settings import Settings

#: The word after `sayso webhook`.
VERB = "setup"

_STEPS = """\
Alerts, step by step. docs/signals.md says more about each.

1  Make a secret for each sender
   openssl rand -hex 32 > /etc/sayso/am.token && chmod 600 /etc/sayso/am.token

2  Name the senders, and the place where alerts are shown
   [adapters.webhook]
   listen = "{listen}"
   [adapters.webhook.sources.am]
   format = "alertmanager"
   token_file = "/etc/sayso/am.token"
   [places]
   alerts = "slack:T0123:C0456"
   [signals]
   place = "alerts"

3  Tell Alertmanager
   receivers:
     - name: sayso
       webhook_configs:
         - url: http://{listen}/signals/am
           send_resolved: true
           http_config:
             authorization: {{ credentials_file: /etc/alertmanager/sayso.token }}

   Or Grafana: a contact point of the kind Webhook, URL http://{listen}/signals/grafana,
   with the same secret as Authorization Header Credentials, or with an HMAC secret and the
   timestamp header X-Grafana-Alerting-Timestamp.

4  Restart sayso and look at:  sayso status
   Then say how far it may go:  set signals.autonomy to propose
"""


def page(settings: Settings) -> str:
    """Return the steps, and what is still missing."""
    problems = settings.problems()
    missing = "".join(f"- {problem}\n" for problem in problems) or "Nothing that can be seen from here.\n"
    return f"{_STEPS.format(listen=settings.listen)}\nStill missing\n{missing}"
