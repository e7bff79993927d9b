-- A town library: titles, their copies in the branches, loans and fines.

CREATE TABLE branches (
    branch_id INTEGER PRIMARY KEY,
    name VARCHAR(40) NOT NULL UNIQUE,
    town VARCHAR(40) NOT NULL
);

CREATE TABLE authors (
    author_id INTEGER PRIMARY KEY,
    name VARCHAR(60) NOT NULL UNIQUE,
    country VARCHAR(40),
    born_year INTEGER
);

CREATE TABLE books (
    book_id INTEGER PRIMARY KEY,
    title VARCHAR(80) NOT NULL UNIQUE,
    genre VARCHAR(20) NOT NULL,
    language VARCHAR(20) NOT NULL,
    published_year INTEGER NOT NULL,
    pages INTEGER
);

CREATE TABLE book_authors (
    book_id INTEGER NOT NULL REFERENCES books (book_id),
    author_id INTEGER NOT NULL REFERENCES authors (author_id),
    position INTEGER NOT NULL,                             -- 1: the first author
    PRIMARY KEY (book_id, author_id)
);

CREATE TABLE copies (
    copy_id INTEGER PRIMARY KEY,
    book_id INTEGER NOT NULL REFERENCES books (book_id),
    branch_id INTEGER NOT NULL REFERENCES branches (branch_id),
    acquired_on DATE NOT NULL,
    price DECIMAL(7, 2),                                   -- NULL: a gift
    state VARCHAR(10) NOT NULL CHECK (state IN ('good', 'worn', 'lost'))
);

CREATE TABLE readers (
    reader_id INTEGER PRIMARY KEY,
    name VARCHAR(60) NOT NULL,
    kind VARCHAR(10) NOT NULL CHECK (kind IN ('adult', 'child', 'staff')),
    branch_id INTEGER NOT NULL REFERENCES branches (branch_id),
    joined_on DATE NOT NULL,
    guardian_id INTEGER REFERENCES readers (reader_id)
);

CREATE TABLE loans (
    loan_id INTEGER PRIMARY KEY,
    copy_id INTEGER NOT NULL REFERENCES copies (copy_id),
    reader_id INTEGER NOT NULL REFERENCES readers (reader_id),
    lent_on DATE NOT NULL,
    due_on DATE NOT NULL,
    returned_on DATE                                       -- NULL: still out
);

CREATE TABLE fines (
    fine_id INTEGER PRIMARY KEY,
    loan_id INTEGER NOT NULL REFERENCES loans (loan_id),
    amount DECIMAL(6, 2) NOT NULL,
    paid_on DATE                                           -- NULL: still owed
);

CREATE TABLE reservations (
    reservation_id INTEGER PRIMARY KEY,
    book_id INTEGER NOT NULL REFERENCES books (book_id),
    reader_id INTEGER NOT NULL REFERENCES readers (reader_id),
    placed_on DATE NOT NULL
);
