"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const cases = data.cases;
  const $ = (id) => document.getElementById(id);
  const ROW = 34;
  const words = (text) => String(text || "").replaceAll("_", " ");

  // Everything a model wrote enters the page as text, never as markup.
  const make = (tag, options = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(options)) {
      if (key === "class") node.className = value;
      else if (key === "text") node.textContent = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const draw = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const state = (item) => item.change || item.outcome;

  // --- overview
  const tile = (value, label, kind = "") =>
    make("div", { class: `tile ${kind}` }, make("b", { text: value }), make("span", { text: label }));

  const showTiles = () => {
    const { total } = data;
    const tiles = [];
    if (total.accuracy) {
      const { value, low, high, n } = total.accuracy;
      tiles.push(tile(percent(value), `accuracy of ${n.toLocaleString("en")}, ${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}`));
    }
    tiles.push(tile(total.correct.toLocaleString("en"), `correct of ${cases.length.toLocaleString("en")} answers`, "good"));
    tiles.push(tile(total.wrong.toLocaleString("en"), "wrong", total.wrong ? "bad" : ""));
    if (total.trouble) tiles.push(tile(total.trouble.toLocaleString("en"), "trouble of the bench", "warn"));
    if (total.unscorable) tiles.push(tile(total.unscorable.toLocaleString("en"), "unscorable", "warn"));
    if (total.vacuous) tiles.push(tile(total.vacuous.toLocaleString("en"), "vacuous", "warn"));
    if (data.comparison) {
      tiles.push(tile(data.comparison.regressed.toLocaleString("en"), `regressed since ${data.comparison.name}`, data.comparison.regressed ? "bad" : ""));
      tiles.push(tile(data.comparison.fixed.toLocaleString("en"), "fixed", "good"));
    }
    $("tiles").append(...tiles);
    $("origin").textContent = data.origin;
    document.title = total.accuracy ? `${percent(total.accuracy.value)} · pytest-sqlbench` : "pytest-sqlbench";
  };

  const bar = (entry, apply) => {
    const svg = draw("svg", { viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(draw("rect", { class: "track", x: 0, y: 4, width: 100, height: 6 }));
    svg.append(draw("rect", { class: "value", x: 0, y: 4, width: Math.max(0.6, 100 * entry.share), height: 6 }));
    if (entry.low !== undefined) {
      svg.append(draw("line", { class: "range", x1: 100 * entry.low, x2: 100 * entry.high, y1: 7, y2: 7, "vector-effect": "non-scaling-stroke" }));
    }
    const button = make("button", { class: `bar ${entry.kind || ""}`, type: "button", title: `Show ${entry.name}`, onclick: apply });
    button.append(make("span", { class: "name", text: words(entry.name) }), svg, make("span", { class: "figure", text: entry.figure }));
    return button;
  };

  const showCharts = () => {
    for (const chart of data.charts) {
      const box = make("div", { class: "chart" }, make("h3", { text: chart.title }));
      for (const entry of chart.bars) {
        box.append(bar(entry, () => {
          $("filters").reset();
          $(chart.filter).value = entry.name;
          filter();
          $("list").scrollIntoView({ block: "start" });
        }));
      }
      $("charts").append(box);
    }
  };

  // --- the list
  const columns = [
    ["outcome", "Outcome", (item) => state(item)],
    ["id", "Case", (item) => `${item.suite}[${item.id}]`],
    ["question", "Question", (item) => item.question],
    ["cause", "Cause", (item) => item.cause || item.reason || ""],
    ["difficulty", "Difficulty", (item) => item.difficulty || ""],
    ["ms", "Time", (item) => item.gold_ms + item.predicted_ms],
  ];
  let shown = cases.slice();
  let chosen = -1;
  let sorting = { column: -1, descending: false };

  const fill = (id, label, values) => {
    $(id).append(make("option", { value: "", text: label }));
    for (const value of [...values].filter(Boolean).sort()) $(id).append(make("option", { value, text: words(value) }));
  };

  const showHead = () => {
    $("head").replaceChildren(...columns.map(([, label], index) => {
      const mark = sorting.column === index ? (sorting.descending ? " ↓" : " ↑") : "";
      return make("button", { type: "button", text: label + mark, title: `Sort by ${label.toLowerCase()}`, onclick: () => sortBy(index) });
    }));
  };

  const sortBy = (index) => {
    sorting = { column: index, descending: sorting.column === index && !sorting.descending };
    filter(true);
  };

  const haystack = cases.map((item) => [item.suite, item.id, item.question, item.gold, item.sql, item.detail].join("\n").toLowerCase());

  const filter = (keepsCase = false) => {
    const text = $("search").value.trim().toLowerCase();
    const [outcome, cause, tag, suite, database] = ["outcome", "cause", "tag", "suite", "database"].map((id) => $(id).value);
    shown = cases.filter((item, index) =>
      (!text || haystack[index].includes(text)) &&
      (!outcome || item.outcome === outcome || item.change === outcome || item.flags.includes(outcome)) &&
      (!cause || item.cause === cause || item.reason === cause || (item.causes || []).includes(cause)) &&
      (!tag || item.difficulty === tag || item.tags.includes(tag)) &&
      (!suite || item.suite === suite) &&
      (!database || item.database === database));
    if (sorting.column >= 0) {
      const value = columns[sorting.column][2];
      const sign = sorting.descending ? -1 : 1;
      shown.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        return sign * (typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true }));
      });
    }
    if (!keepsCase) chosen = -1;
    $("count").textContent = `${shown.length.toLocaleString("en")} of ${cases.length.toLocaleString("en")} cases`;
    $("space").style.height = `${Math.max(1, shown.length) * ROW}px`;
    $("rows").scrollTop = 0;
    showHead();
    showRows();
  };

  const showRows = () => {
    const box = $("rows");
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 8);
    const last = Math.min(shown.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 8);
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const item = shown[index];
      const row = make("div", {
        class: `row${index === chosen ? " chosen" : ""}`, role: "row", style: `top:${index * ROW}px`,
        onclick: () => { chosen = index; open(item); },
      },
      make("span", { class: `badge ${state(item)}`, text: words(state(item)) }),
      make("span", { class: "mono", text: `${item.suite}[${item.id}]` }),
      make("span", { text: item.question }),
      make("span", { class: "soft", text: words(item.cause || item.reason || item.flags.join(", ")) }),
      make("span", { class: "soft", text: item.difficulty || "" }),
      make("span", { class: "time", text: `${(item.gold_ms + item.predicted_ms).toFixed(1)} ms` }));
      rows.push(row);
    }
    if (!shown.length) rows.push(make("div", { class: "row soft", text: "No case fits." }));
    $("space").replaceChildren(...rows);
  };

  const choose = (index) => {
    if (!shown.length) return;
    chosen = Math.min(shown.length - 1, Math.max(0, index));
    const box = $("rows");
    const top = chosen * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    showRows();
  };

  // --- one case
  // Words that change nothing, and what only one writer qualifies or renames, are no difference.
  const IDLE = new Set(["as", "inner", "outer", "asc", ";"]);
  const AFTER_TABLE = new Set("on using where group order having limit join inner left right full cross natural union except intersect set window".split(" "));

  const tokens = (sql) => {
    const found = String(sql || "").match(/'(?:[^']|'')*'|(?:(?:"[^"]*"|[A-Za-z_]\w*)\.)?(?:"[^"]*"|\w+)|<>|!=|<=|>=|\|\||\s+|[^\w\s]/g) || [];
    const list = found.map((text) => {
      const plain = text.startsWith("'") ? text : text.toLowerCase().replaceAll('"', "").replace("<>", "!=");
      const dot = text.startsWith("'") || /^\d/.test(plain) ? -1 : plain.indexOf(".");
      return { text, name: plain.slice(dot + 1), table: dot < 0 ? "" : plain.slice(0, dot), idle: !text.trim() || IDLE.has(plain) };
    });
    const solid = list.filter((token) => !token.idle);
    const aliases = new Map();
    solid.forEach((token, index) => {
      const before = index ? solid[index - 1].name : "";
      const alias = solid[index + 1];
      if (!["from", "join"].includes(before) || !/^\w+$/.test(token.name) || !alias || !/^[a-z_]\w*$/.test(alias.name) || AFTER_TABLE.has(alias.name)) return;
      aliases.set(alias.name, token.name);
      alias.idle = true;
    });
    for (const token of list) token.table = aliases.get(token.table) || token.table;
    return list;
  };

  const isSame = (x, y) => x.name === y.name && (!x.table || !y.table || x.table === y.table);

  const compare = (gold, predicted) => {
    const [left, right] = [tokens(gold), tokens(predicted)];
    const [a, b] = [left.filter((token) => !token.idle), right.filter((token) => !token.idle)];
    if (a.length * b.length > 400000) return [[["", gold]], [["", predicted]]];
    const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        table[i][j] = isSame(a[i], b[j]) ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
      }
    }
    let [i, j] = [0, 0];
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && isSame(a[i], b[j])) { i += 1; j += 1; }
      else if (j >= b.length || (i < a.length && table[i + 1][j] >= table[i][j + 1])) { a[i].kind = "del"; i += 1; }
      else { b[j].kind = "ins"; j += 1; }
    }
    return [left, right].map((list) => list.map((token) => [token.kind || "", token.text]));
  };

  const marked = (parts) => {
    const pre = make("pre");
    for (const [kind, text] of parts) pre.append(kind ? make(kind, { text }) : document.createTextNode(text));
    return pre;
  };

  // Rows are aligned by the first column whose values tell them apart on both sides; then only cells that differ are marked.
  const align = (missing, extra) => {
    const cells = new Map();
    if (!missing.length || !extra.length || missing[0].length !== extra[0].length) return cells;
    const places = missing[0].map((_, place) => {
      const sides = [missing, extra].map((rows) => new Map(rows.map((row) => [JSON.stringify(row[place]), row])));
      const isKey = sides[0].size === missing.length && sides[1].size === extra.length;
      return { sides, n: isKey ? [...sides[0].keys()].filter((key) => sides[1].has(key)).length : 0 };
    });
    const best = places.reduce((found, place) => (place.n > found.n ? place : found), { n: 0 });
    if (!best.n) return cells;
    for (const [key, row] of best.sides[0]) {
      const other = best.sides[1].get(key);
      if (!other) continue;
      const differing = new Set(row.map((cell, place) => (JSON.stringify(cell) === JSON.stringify(other[place]) ? -1 : place)));
      cells.set(JSON.stringify(row), differing).set(JSON.stringify(other), differing);
    }
    return cells;
  };

  const showResult = (result, marks, kind, cells) => {
    if (!result) return make("p", { class: "soft", text: "Not kept." });
    if (result.status) return make("pre", { text: `${words(result.status)}: ${result.message}` });
    const known = new Map();
    for (const row of marks || []) known.set(JSON.stringify(row), (known.get(JSON.stringify(row)) || 0) + 1);
    const body = make("tbody");
    for (const row of result.rows) {
      const key = JSON.stringify(row);
      const left = known.get(key) || 0;
      if (left) known.set(key, left - 1);
      const differing = left ? cells.get(key) : undefined;
      const paint = (place) => (left && (!differing || differing.has(place)) ? kind : "");
      body.append(make("tr", {}, ...row.map((cell, place) =>
        cell === null ? make("td", { class: `null ${paint(place)}`, text: "NULL" })
          : make("td", { class: paint(place), text: String(cell), title: String(cell) }))));
    }
    const head = make("thead", {}, make("tr", {}, ...result.columns.map((label) => make("th", { text: label }))));
    const more = result.n > result.rows.length ? make("p", { class: "soft", text: `${result.rows.length} of ${result.n.toLocaleString("en")} rows` }) : null;
    const none = result.rows.length ? null : make("p", { class: "soft none", text: "No rows." });
    return make("div", {}, make("div", { class: "table", tabindex: "0" }, make("table", {}, head, body), none), more);
  };

  // Statements of the schema whose table one of the two queries names.
  const showSchema = (item) => {
    const schema = data.schemas[item.database];
    if (!schema) return [];
    const named = new Set([...tokens(item.gold), ...tokens(item.sql)].map((token) => token.name));
    const used = schema.split(/;\s*\n/).filter((statement) => {
      const found = /^\s*CREATE\s+(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:["`\w]+\.)?["`]?(\w+)/i.exec(statement);
      return found && named.has(found[1].toLowerCase());
    });
    const whole = make("details", {}, make("summary", { text: "Whole schema" }), make("pre", { text: schema }));
    return used.length ? [titled("Schema used", make("pre", { text: used.map((statement) => statement.trim()).join(";\n\n") })), whole] : [whole];
  };

  const titled = (title, ...children) => make("div", {}, make("h3", { text: title }), ...children);

  const open = (item) => {
    const [gold, predicted] = compare(item.gold, item.sql || "");
    $("case-title").textContent = `${item.suite}[${item.id}]`;
    const facts = make("dl");
    const fact = (name, value) => value && facts.append(make("dt", { text: name }), make("dd", { text: value }));
    fact("cause", (item.causes || []).map(words).join(", "));
    fact("hint", item.hint);
    fact("near miss", item.near.length ? `right under ${item.near.join(", ")}` : "");
    fact("notes", item.flags.map(words).join(", "));
    fact("policy", item.policy);
    fact("database", item.database);
    fact("tags", [item.difficulty, ...item.tags].filter(Boolean).join(", "));
    fact("scores", Object.entries(item.scores || {}).map(([name, value]) => `${name} ${Number(value).toFixed(3)}`).join(", "));
    fact("written at", item.where.replace(/:0$/, ""));
    fact("times", `gold ${item.gold_ms.toFixed(1)} ms, predicted ${item.predicted_ms.toFixed(1)} ms${item.model_ms ? `, model ${Math.round(item.model_ms)} ms` : ""}`);
    fact("extracted by", item.extraction.join(", "));
    fact("history", (item.history || []).join(" · "));
    const match = item.match || {};
    const body = [
      make("p", { class: "question", text: item.question }),
      make("p", { class: `verdict ${state(item)}`, text: [words(state(item)), words(item.reason), item.detail].filter(Boolean).join(": ") }),
      make("div", { class: "pair" },
        titled("Gold", marked(gold)),
        titled("Predicted", item.sql === null ? make("p", { class: "soft", text: "There is no statement." }) : marked(predicted))),
    ];
    if (item.gold_result || item.predicted_result) {
      const [missing, extra] = [match.missing_n || 0, match.extra_n || 0];
      const cells = align(match.missing || [], match.extra || []);
      body.push(make("div", { class: "pair" },
        titled(`Gold rows${missing ? `, ${missing.toLocaleString("en")} missing from the prediction` : ""}`, showResult(item.gold_result, match.missing, "missing", cells)),
        titled(`Predicted rows${extra ? `, ${extra.toLocaleString("en")} too many` : ""}`, showResult(item.predicted_result, match.extra, "extra", cells))));
    }
    if (item.reply) body.push(titled("Reply of the model", make("pre", { text: item.reply })));
    body.push(facts);
    body.push(...showSchema(item));
    $("case-body").replaceChildren(...body);
    const link = `#case=${encodeURIComponent(`${item.suite}/${item.id}`)}`;
    if (location.hash !== link) history.replaceState(null, "", link);
    if (!$("case").open) $("case").showModal();
    $("case").scrollTop = 0;
    showRows();
  };

  const step = (by) => { choose(chosen + by); if (chosen >= 0) open(shown[chosen]); };

  const openLink = () => {
    const found = /^#case=(.+)$/.exec(location.hash);
    if (!found) return;
    let key = "";
    try { key = decodeURIComponent(found[1]); } catch { return; }
    const item = cases.find((one) => `${one.suite}/${one.id}` === key);
    if (item) { chosen = shown.indexOf(item); if (chosen >= 0) choose(chosen); open(item); }
  };

  // --- wiring
  for (const kind of ["input", "change"]) $("filters").addEventListener(kind, () => filter());
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(filter, 0));
  $("rows").addEventListener("scroll", () => requestAnimationFrame(showRows));
  $("rows").addEventListener("keydown", (event) => {
    const page = Math.floor($("rows").clientHeight / ROW) - 1;
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -shown.length, End: shown.length };
    if (event.key in moves) { choose(chosen + moves[event.key]); event.preventDefault(); }
    if (event.key === "Enter" && chosen >= 0) { open(shown[chosen]); event.preventDefault(); }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !$("case").open) { $("search").focus(); event.preventDefault(); }
    if ($("case").open && !typing && (event.key === "j" || event.key === "k")) step(event.key === "j" ? 1 : -1);
  });
  $("close").addEventListener("click", () => $("case").close());
  $("next").addEventListener("click", () => step(1));
  $("previous").addEventListener("click", () => step(-1));
  $("case").addEventListener("close", () => {
    history.replaceState(null, "", location.pathname + location.search);
    $("rows").focus();
  });
  $("case").addEventListener("click", (event) => { if (event.target === $("case")) $("case").close(); });
  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
  });
  addEventListener("hashchange", openLink);
  addEventListener("resize", showRows);

  showTiles();
  showCharts();
  fill("outcome", "any outcome or note", new Set(cases.flatMap((item) => [item.outcome, item.change, ...item.flags])));
  fill("cause", "any cause", new Set(cases.flatMap((item) => [...(item.causes || []), item.reason])));
  fill("tag", "any tag", new Set(cases.flatMap((item) => [item.difficulty, ...item.tags])));
  fill("suite", "any suite", new Set(cases.map((item) => item.suite)));
  fill("database", "any database", new Set(cases.map((item) => item.database)));
  for (const id of ["suite", "database", "tag"]) if ($(id).options.length < 3) $(id).hidden = true;
  filter();
  performance.mark("sqlbench-table");
  openLink();
})();
