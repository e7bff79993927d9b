-- An online shop: a tree of categories, orders of several lines, and reviews.

CREATE TABLE categories (
    category_id INTEGER PRIMARY KEY,
    name VARCHAR(40) NOT NULL UNIQUE,
    parent_id INTEGER REFERENCES categories (category_id)  -- NULL: top of the tree
);

CREATE TABLE products (
    product_id INTEGER PRIMARY KEY,
    name VARCHAR(60) NOT NULL UNIQUE,
    category_id INTEGER NOT NULL REFERENCES categories (category_id),
    price DECIMAL(8, 2) NOT NULL,
    cost DECIMAL(8, 2),                                    -- NULL: unknown
    stock INTEGER NOT NULL,
    discontinued_on DATE                                   -- NULL: on sale
);

CREATE TABLE customers (
    customer_id INTEGER PRIMARY KEY,
    name VARCHAR(60) NOT NULL,
    email VARCHAR(80),
    country VARCHAR(40) NOT NULL,
    joined_on DATE NOT NULL,
    referred_by INTEGER REFERENCES customers (customer_id) -- NULL: came alone
);

CREATE TABLE orders (
    order_id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
    ordered_on DATE NOT NULL,
    shipped_on DATE,
    status VARCHAR(10) NOT NULL CHECK (status IN ('open', 'shipped', 'cancelled', 'returned')),
    discount DECIMAL(4, 2) NOT NULL                        -- on the whole order, 0 to 1
);

CREATE TABLE order_lines (
    order_id INTEGER NOT NULL REFERENCES orders (order_id),
    line_no INTEGER NOT NULL,
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    quantity INTEGER NOT NULL,
    unit_price DECIMAL(8, 2) NOT NULL,                     -- as charged, before the discount
    PRIMARY KEY (order_id, line_no)
);

CREATE TABLE reviews (
    review_id INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
    stars INTEGER NOT NULL CHECK (stars BETWEEN 1 AND 5),
    reviewed_on DATE NOT NULL,
    comment VARCHAR(200)
);
