-- A group practice: who treats whom, when, for how much, and what is prescribed.

CREATE TABLE specialties (
    specialty_id INTEGER PRIMARY KEY,
    name VARCHAR(40) NOT NULL UNIQUE
);

CREATE TABLE doctors (
    doctor_id INTEGER PRIMARY KEY,
    first_name VARCHAR(40) NOT NULL,
    last_name VARCHAR(40) NOT NULL,
    specialty_id INTEGER NOT NULL REFERENCES specialties (specialty_id),
    supervisor_id INTEGER REFERENCES doctors (doctor_id),  -- NULL: nobody above
    hired_on DATE NOT NULL,
    left_on DATE                                           -- NULL: still here
);

CREATE TABLE insurers (
    insurer_id INTEGER PRIMARY KEY,
    name VARCHAR(40) NOT NULL UNIQUE,
    copay_rate DECIMAL(4, 2) NOT NULL                      -- the patient's share, 0 to 1
);

CREATE TABLE patients (
    patient_id INTEGER PRIMARY KEY,
    first_name VARCHAR(40) NOT NULL,
    last_name VARCHAR(40) NOT NULL,
    born_on DATE NOT NULL,
    city VARCHAR(40) NOT NULL,
    phone VARCHAR(20),
    insurer_id INTEGER REFERENCES insurers (insurer_id)    -- NULL: pays everything
);

CREATE TABLE appointments (
    appointment_id INTEGER PRIMARY KEY,
    patient_id INTEGER NOT NULL REFERENCES patients (patient_id),
    doctor_id INTEGER NOT NULL REFERENCES doctors (doctor_id),
    booked_on DATE NOT NULL,
    visit_on DATE NOT NULL,
    status VARCHAR(10) NOT NULL CHECK (status IN ('held', 'missed', 'cancelled')),
    fee DECIMAL(8, 2)                                      -- NULL: nothing billed
);

CREATE TABLE drugs (
    drug_id INTEGER PRIMARY KEY,
    name VARCHAR(40) NOT NULL UNIQUE,
    form VARCHAR(20) NOT NULL,
    price DECIMAL(7, 2)                                    -- per pack; NULL: on request
);

CREATE TABLE prescriptions (
    prescription_id INTEGER PRIMARY KEY,
    appointment_id INTEGER NOT NULL REFERENCES appointments (appointment_id),
    drug_id INTEGER NOT NULL REFERENCES drugs (drug_id),
    days INTEGER NOT NULL,
    refills INTEGER                                        -- NULL: not stated
);
