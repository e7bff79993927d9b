-- A bike-share: trips of the summer of 2024 (June to August), repairs, and the weather.

CREATE TABLE stations (
    station_id INTEGER PRIMARY KEY,
    name VARCHAR(40) NOT NULL UNIQUE,
    district VARCHAR(40) NOT NULL,
    docks INTEGER NOT NULL,
    opened_on DATE NOT NULL,
    closed_on DATE                                         -- NULL: in use
);

CREATE TABLE bikes (
    bike_id INTEGER PRIMARY KEY,
    model VARCHAR(20) NOT NULL,
    kind VARCHAR(10) NOT NULL CHECK (kind IN ('classic', 'electric')),
    bought_on DATE NOT NULL,
    price DECIMAL(8, 2) NOT NULL,
    retired_on DATE                                        -- NULL: in use
);

CREATE TABLE members (
    member_id INTEGER PRIMARY KEY,
    plan VARCHAR(10) NOT NULL CHECK (plan IN ('day', 'month', 'year')),
    joined_on DATE NOT NULL,
    birth_year INTEGER,
    home_station_id INTEGER REFERENCES stations (station_id)
);

CREATE TABLE trips (
    trip_id INTEGER PRIMARY KEY,
    bike_id INTEGER NOT NULL REFERENCES bikes (bike_id),
    member_id INTEGER REFERENCES members (member_id),      -- NULL: a guest
    start_station_id INTEGER NOT NULL REFERENCES stations (station_id),
    end_station_id INTEGER REFERENCES stations (station_id), -- NULL: never brought back
    started_at TIMESTAMP NOT NULL,
    minutes INTEGER,
    distance_km DECIMAL(6, 2)                              -- NULL: not measured
);

CREATE TABLE repairs (
    repair_id INTEGER PRIMARY KEY,
    bike_id INTEGER NOT NULL REFERENCES bikes (bike_id),
    part VARCHAR(20) NOT NULL,
    opened_on DATE NOT NULL,
    finished_on DATE,                                      -- NULL: still in the workshop
    cost DECIMAL(7, 2)
);

CREATE TABLE weather (
    observed_on DATE PRIMARY KEY,
    rain_mm DECIMAL(4, 1),                                 -- NULL: the gauge was broken
    high_c INTEGER NOT NULL
);
