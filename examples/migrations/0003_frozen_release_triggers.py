"""A frozen release never changes: triggers refuse it, whatever code or person tries.

SQLite rebuilds a table when a later migration alters it, and drops its triggers then: such a migration must end with
`RunPython(install, remove)` of this one again (tests/examples/test_frozen.py notices).
"""

from django.db import migrations

CHILDREN = ("examples_split", "examples_releaseitem", "examples_releasefile")
WORDS = "A frozen release never changes."

SQLITE_RELEASE = """
CREATE TRIGGER examples_release_frozen_{event} BEFORE {event} ON examples_release
WHEN OLD.state = 'frozen' BEGIN SELECT RAISE(ABORT, '{words}'); END
"""
SQLITE_CHILD = """
CREATE TRIGGER {table}_frozen_{event} BEFORE {event} ON {table}
WHEN EXISTS (SELECT 1 FROM examples_release WHERE state = 'frozen' AND id IN ({releases}))
BEGIN SELECT RAISE(ABORT, '{words}'); END
"""
POSTGRES_RELEASE = """
CREATE FUNCTION examples_release_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'frozen' THEN
    RAISE EXCEPTION '{words}' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER examples_release_frozen BEFORE UPDATE OR DELETE ON examples_release
FOR EACH ROW EXECUTE FUNCTION examples_release_frozen();
CREATE FUNCTION examples_release_child_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  refused boolean := false;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    refused := EXISTS (SELECT 1 FROM examples_release WHERE state = 'frozen' AND id = OLD.release_id);
  END IF;
  IF TG_OP <> 'DELETE' AND NOT refused THEN
    refused := EXISTS (SELECT 1 FROM examples_release WHERE state = 'frozen' AND id = NEW.release_id);
  END IF;
  IF refused THEN
    RAISE EXCEPTION '{words}' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
"""
POSTGRES_CHILD = """
CREATE TRIGGER {table}_frozen BEFORE INSERT OR UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION examples_release_child_frozen();
"""
RELEASES = {
    "insert": "NEW.release_id",
    "update": "OLD.release_id, NEW.release_id",
    "delete": "OLD.release_id",
}


def statements(vendor):
    """Return the SQL statements that create the triggers. Raises NotImplementedError for an unknown database."""
    if vendor == "sqlite":
        made = [SQLITE_RELEASE.format(event=event, words=WORDS) for event in ("update", "delete")]
        return made + [
            SQLITE_CHILD.format(table=table, event=event, releases=releases, words=WORDS)
            for table in CHILDREN
            for event, releases in RELEASES.items()
        ]
    if vendor == "postgresql":
        return [POSTGRES_RELEASE.format(words=WORDS), *(POSTGRES_CHILD.format(table=table) for table in CHILDREN)]
    raise NotImplementedError(f"No triggers are written for {vendor}: Benchwright runs on SQLite and Postgres.")


def removals(vendor):
    """Return the SQL statements that drop the triggers, where they exist."""
    if vendor == "sqlite":
        names = [f"examples_release_frozen_{event}" for event in ("update", "delete")]
        names += [f"{table}_frozen_{event}" for table in CHILDREN for event in RELEASES]
        return [f"DROP TRIGGER IF EXISTS {name}" for name in names]
    return [
        "DROP FUNCTION IF EXISTS examples_release_frozen() CASCADE",
        "DROP FUNCTION IF EXISTS examples_release_child_frozen() CASCADE",
    ]


def install(apps, schema_editor):
    """Create the triggers; twice does no harm."""
    remove(apps, schema_editor)
    for statement in statements(schema_editor.connection.vendor):
        schema_editor.execute(statement, params=None)


def remove(apps, schema_editor):
    """Drop the triggers."""
    for statement in removals(schema_editor.connection.vendor):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("examples", "0002_release_files")]

    operations = [migrations.RunPython(install, remove)]
