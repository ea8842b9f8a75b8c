-- +goose Up
CREATE EXTENSION IF NOT EXISTS btree_gist;
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- The one clock. Tests shift it with app.clock_shift; nothing else sets that.
-- +goose StatementBegin
CREATE FUNCTION app_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT clock_timestamp() + coalesce(nullif(current_setting('app.clock_shift', true), ''), '0')::interval
$$;
-- +goose StatementEnd

-- A zone is an IANA name with an area ("Europe/Copenhagen"), never an abbreviation.
-- +goose StatementBegin
CREATE FUNCTION is_zone(zone text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF zone IS NULL OR zone !~ '^[A-Za-z_]+(/[A-Za-z0-9_+-]+)+$' THEN RETURN false; END IF;
  PERFORM timestamptz 'epoch' AT TIME ZONE zone;
  RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN RETURN false;
END $$;
-- +goose StatementEnd

-- Bounded repetition ({1,64}) makes the same check ten times slower, and it runs for every id written.
CREATE DOMAIN ident AS text CHECK (VALUE ~ '^[A-Za-z0-9_-]+$' AND length(VALUE) <= 64);

CREATE TABLE clinics (
  id                         ident PRIMARY KEY,
  name                       text NOT NULL CHECK (name <> ''),
  second_person_decides_high boolean NOT NULL DEFAULT false, -- contract section 7: small clinics, set when created
  created_at                 timestamptz NOT NULL DEFAULT app_now()
);

CREATE TABLE locations (
  clinic  ident NOT NULL REFERENCES clinics,
  id      ident NOT NULL,
  name    text NOT NULL CHECK (name <> ''),
  address text NOT NULL,
  phone   text NOT NULL,
  zone    text NOT NULL CHECK (is_zone(zone)),
  version bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (clinic, id)
);

CREATE TABLE practitioners (
  clinic  ident NOT NULL REFERENCES clinics,
  id      ident NOT NULL,
  name    text NOT NULL CHECK (name <> ''),
  active  boolean NOT NULL DEFAULT true,
  version bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (clinic, id)
);

CREATE TABLE appointment_types (
  clinic  ident NOT NULL REFERENCES clinics,
  id      ident NOT NULL,
  name    text NOT NULL CHECK (name <> ''),
  minutes integer NOT NULL CHECK (minutes BETWEEN 5 AND 720),
  version bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (clinic, id)
);

-- A schedule is a weekly template in the wall time of its location.
CREATE TABLE schedules (
  clinic       ident NOT NULL,
  id           ident NOT NULL,
  practitioner ident NOT NULL,
  location     ident NOT NULL,
  valid_from   date NOT NULL,
  valid_to     date CHECK (valid_to >= valid_from), -- inclusive; null = open
  grid_minutes integer NOT NULL DEFAULT 15 CHECK (grid_minutes BETWEEN 5 AND 120),
  types        text[] NOT NULL, -- ids of the appointment types offered
  made_until   date, -- slots exist up to and with this local day
  version      bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (clinic, id),
  FOREIGN KEY (clinic, practitioner) REFERENCES practitioners,
  FOREIGN KEY (clinic, location) REFERENCES locations
);

-- Minutes are wall minutes from the midnight that opens the day; closes past 1440 runs into the next day.
CREATE TABLE schedule_hours (
  clinic   ident NOT NULL,
  schedule ident NOT NULL,
  weekday  smallint NOT NULL CHECK (weekday BETWEEN 0 AND 6), -- 0 = Sunday
  opens    integer NOT NULL CHECK (opens BETWEEN 0 AND 1439),
  closes   integer NOT NULL CHECK (closes <= 2880 AND closes > opens),
  PRIMARY KEY (clinic, schedule, weekday, opens),
  FOREIGN KEY (clinic, schedule) REFERENCES schedules ON DELETE CASCADE
);

-- Rows of a date replace that date's weekly hours; closed rows have no hours.
CREATE TABLE schedule_exceptions (
  clinic   ident NOT NULL,
  schedule ident NOT NULL,
  day      date NOT NULL,
  opens    integer CHECK (opens BETWEEN 0 AND 1439),
  closes   integer CHECK (closes <= 2880 AND closes > opens),
  CHECK ((opens IS NULL) = (closes IS NULL)),
  UNIQUE (clinic, schedule, day, opens),
  FOREIGN KEY (clinic, schedule) REFERENCES schedules ON DELETE CASCADE
);

-- Local dates, inclusive, in the zone of whichever location the slot is at; opens/closes null = the whole day.
CREATE TABLE leave (
  clinic       ident NOT NULL,
  id           ident NOT NULL,
  practitioner ident NOT NULL,
  from_day     date NOT NULL,
  to_day       date NOT NULL CHECK (to_day >= from_day),
  opens        integer CHECK (opens BETWEEN 0 AND 1439),
  closes       integer CHECK (closes <= 1440 AND closes > opens),
  CHECK ((opens IS NULL) = (closes IS NULL)),
  PRIMARY KEY (clinic, id),
  FOREIGN KEY (clinic, practitioner) REFERENCES practitioners
);

CREATE TABLE patients (
  clinic      ident NOT NULL REFERENCES clinics,
  id          ident NOT NULL,
  family      text NOT NULL,
  given       text NOT NULL,
  birth_date  date NOT NULL,
  mrn         text NOT NULL,
  phone       text,
  email       text,
  contact     text NOT NULL DEFAULT 'none' CHECK (contact IN ('email', 'sms', 'phone', 'none')),
  language    text NOT NULL DEFAULT 'en',
  deceased    boolean NOT NULL DEFAULT false,
  search_text text NOT NULL, -- clinic.SearchText, folded in Go so that writing and asking agree
  version     bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (clinic, id),
  UNIQUE (clinic, mrn)
);
-- A term that many match is found walking by name: the first twenty come soon.
CREATE INDEX patients_by_name ON patients (clinic, family, given, birth_date, id);
CREATE INDEX patients_search ON patients USING gin (search_text gin_trgm_ops);

CREATE TABLE appointments (
  clinic       ident NOT NULL,
  id           ident NOT NULL,
  patient      ident NOT NULL,
  practitioner ident NOT NULL,
  location     ident NOT NULL,
  type         ident NOT NULL,
  status       text NOT NULL CHECK (status IN ('booked', 'arrived', 'checked-in', 'fulfilled', 'cancelled', 'noshow', 'waitlist')),
  during       tstzrange NOT NULL,
  -- Plain columns for reading: lower() is not leakproof, so under row-level security no index on it would ever be used.
  starts_at    timestamptz GENERATED ALWAYS AS (lower(during)) STORED,
  ends_at      timestamptz GENERATED ALWAYS AS (upper(during)) STORED,
  version      bigint NOT NULL DEFAULT 1,
  reason_code  text, -- why it was cancelled
  changed_by   ident NOT NULL, -- account, token or a system name; copied to the history
  changed_via  text NOT NULL CHECK (changed_via IN ('plan', 'status', 'import', 'mirror', 'seed')),
  proposal     ident, -- the plan that made this version
  changed_at   timestamptz NOT NULL DEFAULT app_now(),
  PRIMARY KEY (clinic, id),
  FOREIGN KEY (clinic, patient) REFERENCES patients,
  FOREIGN KEY (clinic, practitioner) REFERENCES practitioners,
  FOREIGN KEY (clinic, location) REFERENCES locations,
  FOREIGN KEY (clinic, type) REFERENCES appointment_types,
  -- The statuses of clinic.HoldsTime. EXCLUDE alone lets an empty range through, and a closed upper bound would clash with its neighbour.
  CONSTRAINT appointments_range CHECK (NOT isempty(during) AND lower_inc(during) AND NOT upper_inc(during)
    AND NOT lower_inf(during) AND NOT upper_inf(during)),
  CONSTRAINT appointments_no_overlap EXCLUDE USING gist (clinic WITH =, practitioner WITH =, during WITH &&)
    WHERE (status IN ('booked', 'arrived', 'checked-in')) DEFERRABLE INITIALLY IMMEDIATE
);
CREATE INDEX appointments_by_day ON appointments (clinic, location, starts_at);
CREATE INDEX appointments_by_practitioner ON appointments (clinic, practitioner, starts_at);
CREATE INDEX appointments_by_patient ON appointments (clinic, patient, starts_at);
CREATE INDEX appointments_by_start ON appointments (clinic, starts_at, id);

CREATE TABLE appointment_history (
  clinic       ident NOT NULL,
  appointment  ident NOT NULL,
  version      bigint NOT NULL,
  status       text NOT NULL,
  practitioner ident NOT NULL,
  location     ident NOT NULL,
  type         ident NOT NULL,
  during       tstzrange NOT NULL,
  reason_code  text,
  changed_by   ident NOT NULL,
  changed_via  text NOT NULL,
  proposal     ident,
  changed_at   timestamptz NOT NULL,
  PRIMARY KEY (clinic, appointment, version),
  FOREIGN KEY (clinic, appointment) REFERENCES appointments
);

-- A slot row is what can be booked: it carries all that decides it (template, leave, types, place), so its version
-- rises with everything that changes what it means.
CREATE TABLE slots (
  clinic       ident NOT NULL,
  id           ident NOT NULL,
  practitioner ident NOT NULL,
  location     ident NOT NULL,
  schedule     ident NOT NULL,
  day          date NOT NULL, -- local day on which it starts
  starts_at    timestamptz NOT NULL,
  ends_at      timestamptz NOT NULL CHECK (ends_at > starts_at AND ends_at <= starts_at + interval '1 day'),
  types        text[] NOT NULL,
  state        text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'leave', 'closed')),
  appointment  ident,
  version      bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (clinic, id),
  CONSTRAINT slots_once UNIQUE (clinic, practitioner, starts_at),
  FOREIGN KEY (clinic, practitioner) REFERENCES practitioners,
  FOREIGN KEY (clinic, location) REFERENCES locations,
  FOREIGN KEY (clinic, schedule) REFERENCES schedules,
  FOREIGN KEY (clinic, appointment) REFERENCES appointments
);
CREATE INDEX slots_by_day ON slots (clinic, location, day);
CREATE INDEX slots_by_start ON slots (clinic, starts_at);
CREATE INDEX slots_by_appointment ON slots (clinic, appointment) WHERE appointment IS NOT NULL;

-- Versions rise in the database, so that no path, an operator's psql included, can forget it.
-- +goose StatementBegin
CREATE FUNCTION raise_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER version BEFORE UPDATE ON locations FOR EACH ROW
  WHEN ((OLD.name, OLD.address, OLD.phone, OLD.zone) IS DISTINCT FROM (NEW.name, NEW.address, NEW.phone, NEW.zone))
  EXECUTE FUNCTION raise_version();
CREATE TRIGGER version BEFORE UPDATE ON practitioners FOR EACH ROW
  WHEN ((OLD.name, OLD.active) IS DISTINCT FROM (NEW.name, NEW.active)) EXECUTE FUNCTION raise_version();
CREATE TRIGGER version BEFORE UPDATE ON appointment_types FOR EACH ROW
  WHEN ((OLD.name, OLD.minutes) IS DISTINCT FROM (NEW.name, NEW.minutes)) EXECUTE FUNCTION raise_version();
CREATE TRIGGER version BEFORE UPDATE ON patients FOR EACH ROW
  WHEN ((OLD.family, OLD.given, OLD.birth_date, OLD.mrn, OLD.phone, OLD.email, OLD.contact, OLD.language, OLD.deceased)
    IS DISTINCT FROM (NEW.family, NEW.given, NEW.birth_date, NEW.mrn, NEW.phone, NEW.email, NEW.contact, NEW.language, NEW.deceased))
  EXECUTE FUNCTION raise_version();
CREATE TRIGGER version BEFORE UPDATE ON slots FOR EACH ROW
  WHEN ((OLD.practitioner, OLD.location, OLD.schedule, OLD.starts_at, OLD.ends_at, OLD.types, OLD.state, OLD.appointment)
    IS DISTINCT FROM (NEW.practitioner, NEW.location, NEW.schedule, NEW.starts_at, NEW.ends_at, NEW.types, NEW.state, NEW.appointment))
  EXECUTE FUNCTION raise_version();
CREATE TRIGGER version BEFORE UPDATE ON appointments FOR EACH ROW EXECUTE FUNCTION raise_version();

-- A type's length decides what a slot of that type can hold, and a location's zone when it is.
-- +goose StatementBegin
CREATE FUNCTION raise_slot_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'appointment_types' THEN
    UPDATE slots SET version = version + 1 WHERE clinic = NEW.clinic AND starts_at > app_now() AND NEW.id = ANY (types);
  ELSE
    UPDATE slots SET version = version + 1 WHERE clinic = NEW.clinic AND starts_at > app_now() AND location = NEW.id;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER slot_versions AFTER UPDATE ON appointment_types FOR EACH ROW
  WHEN (OLD.minutes IS DISTINCT FROM NEW.minutes) EXECUTE FUNCTION raise_slot_versions();
CREATE TRIGGER slot_versions AFTER UPDATE ON locations FOR EACH ROW
  WHEN ((OLD.zone, OLD.address) IS DISTINCT FROM (NEW.zone, NEW.address)) EXECUTE FUNCTION raise_slot_versions();

-- +goose StatementBegin
CREATE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO appointment_history (clinic, appointment, version, status, practitioner, location, type, during,
    reason_code, changed_by, changed_via, proposal, changed_at)
  VALUES (NEW.clinic, NEW.id, NEW.version, NEW.status, NEW.practitioner, NEW.location, NEW.type, NEW.during,
    NEW.reason_code, NEW.changed_by, NEW.changed_via, NEW.proposal, NEW.changed_at);
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER history AFTER INSERT OR UPDATE ON appointments FOR EACH ROW EXECUTE FUNCTION keep_history();

-- +goose StatementBegin
CREATE FUNCTION never_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a row of % never changes', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER never_changes BEFORE UPDATE OR DELETE ON appointment_history FOR EACH ROW EXECUTE FUNCTION never_changes();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON appointment_history EXECUTE FUNCTION never_changes();
