"""SQL by its verbs."""

import pytest

from gate.domain import Risk
from gate.shell.sql import judge


@pytest.mark.parametrize(
    ("text", "risk"),
    [
        ("select 1", Risk.READ_ONLY),
        ("SHOW DATABASES", Risk.READ_ONLY),
        ("SHOW REPLICA STATUS\\G", Risk.READ_ONLY),
        ("explain select 1", Risk.READ_ONLY),
        ("select 'drop table x'", Risk.READ_ONLY),
        ("select 1 -- drop table x", Risk.READ_ONLY),
        ("select 1; drop table x", Risk.DESTRUCTIVE),
        ("DELETE FROM x WHERE id = 1", Risk.DESTRUCTIVE),
        ("with x as (delete from t returning 1) select * from x", Risk.DESTRUCTIVE),
        ("explain analyze delete from t", Risk.DESTRUCTIVE),
        ("update t set a = 1", Risk.DESTRUCTIVE),
        ("update t set a = 1 where id = 2", Risk.CONFIG_MUTATION),
        ("select * into x from y", Risk.CONFIG_MUTATION),
        ("copy (select 1) to program 'id'", Risk.CONFIG_MUTATION),
        ("select pg_terminate_backend(1)", Risk.CONFIG_MUTATION),
        ("\\! id", Risk.CONFIG_MUTATION),
        ("select pg_reload_conf()", Risk.REVERSIBLE_LOW),
        ("VACUUM (ANALYZE) orders", Risk.REVERSIBLE_LOW),
        ("frobnicate", Risk.CONFIG_MUTATION),
        ("", Risk.CONFIG_MUTATION),
        (";;", Risk.CONFIG_MUTATION),
    ],
)
def test_class_of_sql(text: str, risk: Risk) -> None:
    assert judge(text)[0] is risk
