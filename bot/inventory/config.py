"""The tables `[targets.NAME]` and `[services.NAME]` as the config file may spell them.

Shapes and spelling only; whether names refer to something is `bot.inventory.build`'s business. Everything
that ends up in an argument vector is restricted here to characters that no shell and no option parser can
misread.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from gate.domain import TargetKind, TargetState

#: Names that people type: lower case, so that a phone's capital letter still finds them.
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]
#: A slug, or "@tag".
Reference = Annotated[str, StringConstraints(pattern=r"^@?[a-z0-9][a-z0-9._-]{0,62}$")]
#: A host name, an alias of the SSH config, or an IP address of either family. Never starts with "-".
Address = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_:][A-Za-z0-9_.:%-]{0,254}$")]
User = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_0-9][A-Za-z0-9_.@-]{0,63}$")]
Container = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$")]
Pod = Annotated[str, StringConstraints(pattern=r"^([a-z]+/)?[a-z0-9][a-z0-9.-]{0,252}$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Shell = Annotated[str, StringConstraints(pattern=r"^/?[A-Za-z0-9][A-Za-z0-9_./-]{0,127}$")]

RESERVED = frozenset({"all"})


class TargetConfig(BaseModel):
    """One `[targets.NAME]` table.

    Attributes:
        address: for ssh: host name, IP, or alias of the SSH config; the table's name when left out.
        user, port: left out: what the SSH config says, else the bot's own user and 22.
        via: the target that pct, docker or kubectl runs on; left out: this machine.
        container: id for pct, name for docker, container within the pod for kubectl.
        become: true for root, or the name of the user whom sudo runs commands as.
        become_password_file, become_password_env: where the password is that sudo asks for.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    kind: TargetKind = Field(default=TargetKind.SSH, strict=False)
    address: Address | None = None
    user: User | None = None
    port: int | None = Field(default=None, ge=1, le=65535)
    via: Slug | None = None
    container: Container | None = None
    pod: Pod | None = None
    namespace: Container | None = None
    become: bool | User = False
    become_password_file: str | None = Field(default=None, min_length=1)
    become_password_env: Variable | None = None
    shell: Shell = "bash"
    tags: tuple[Slug, ...] = Field(default=(), strict=False)
    state: TargetState = Field(default=TargetState.ACTIVE, strict=False)
    never_auto_act: bool = False
    depends_on: tuple[Slug, ...] = Field(default=(), strict=False)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "TargetConfig":
        needed = _NEEDED[self.kind]
        allowed = needed | _ALLOWED[self.kind]
        for name in sorted(needed):
            if getattr(self, name) is None:
                raise ValueError(f"a {self.kind} target needs `{name}`")
        for name in sorted(_KIND_FIELDS - allowed):
            if getattr(self, name) is not None:
                raise ValueError(f"`{name}` means nothing for a {self.kind} target; remove it")
        if self.become_password_file is not None and self.become_password_env is not None:
            raise ValueError("`become_password_file` and `become_password_env` are both there; keep one")
        for name in ("become_password_file", "become_password_env"):
            if getattr(self, name) is not None and not self.become:
                raise ValueError(f"`{name}` means nothing without `become`")
        return self


_PASSWORDS = frozenset({"become_password_file", "become_password_env"})
_KIND_FIELDS = frozenset({"address", "user", "port", "via", "container", "pod", "namespace"}) | _PASSWORDS
_NEEDED: dict[TargetKind, frozenset[str]] = {
    TargetKind.LOCAL: frozenset(),
    TargetKind.SSH: frozenset(),
    TargetKind.PCT: frozenset({"container"}),
    TargetKind.DOCKER: frozenset({"container"}),
    TargetKind.KUBECTL: frozenset({"pod"}),
}
_ALLOWED: dict[TargetKind, frozenset[str]] = {
    TargetKind.LOCAL: _PASSWORDS,
    TargetKind.SSH: frozenset({"address", "user", "port"}) | _PASSWORDS,
    TargetKind.PCT: frozenset({"via"}),
    TargetKind.DOCKER: frozenset({"via"}),
    TargetKind.KUBECTL: frozenset({"via", "namespace", "container"}),
}


class ServiceConfig(BaseModel):
    """One `[services.NAME]` table: where the service runs, and what it needs (services or targets)."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    on: tuple[Reference, ...] = Field(default=(), strict=False)
    depends_on: tuple[Slug, ...] = Field(default=(), strict=False)
