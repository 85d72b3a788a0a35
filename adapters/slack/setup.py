"""Setup: what to paste where, as text. Pure; `docs/setup-slack.md` has the steps around it."""

import json

from adapters.slack.settings import APP_TOKEN, BOT_TOKEN, Settings
from adapters.slack.state import SCOPES

#: The word after `sayso slack`.
VERB = "manifest"

#: What the app is told of; `message.*` and `app_mention` overlap, and some workspaces send only the latter.
EVENTS = ("app_mention", "message.channels", "message.groups", "message.im", "message.mpim")


def manifest() -> str:
    """Return the app's manifest as JSON."""
    document = {
        "display_information": {
            "name": "sayso",
            "description": "Runs what only reads, asks before it changes anything.",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": False,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "sayso", "always_online": False},
        },
        "oauth_config": {"scopes": {"bot": sorted(SCOPES)}},
        "settings": {
            "event_subscriptions": {"bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True},
            "org_deploy_enabled": False,
            "socket_mode_enabled": True,
            "token_rotation_enabled": False,
        },
    }
    return json.dumps(document, indent=2)


def page(settings: Settings) -> str:
    """Return the manifest, what to do with it, and what is still missing."""
    missing = settings.problems()
    state = "\n".join(f"- {one}" for one in missing) or "- Both tokens are there."
    return f"""\
1. Open https://api.slack.com/apps, Create New App, From a manifest. Choose the workspace, paste this as JSON:

{manifest()}

2. Install App, Install to Workspace, Allow. Copy the Bot User OAuth Token (xoxb-…) into a file that only
   sayso can read; name it as bot_token_file in [adapters.slack], or set {BOT_TOKEN}.
3. Basic Information, App-Level Tokens, Generate Token and Scopes, with the scope connections:write. Copy the
   token (xapp-…) into another file: app_token_file, or {APP_TOKEN}.
4. In each channel where sayso is to work: /invite @sayso
5. Operators: [operators.NAME] accounts = ["slack:TEAM:MEMBER"]. The member id is in the profile, under the
   three dots, Copy member ID; sayso status tells the team.

Now:
{state}
"""
