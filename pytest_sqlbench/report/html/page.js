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
    tiles.push(tile(total.correct.toLocaleString("en"), "correct", "good"));
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
    svg.append(draw("rect", { class: "track", x: 0, y: 4, width: 100, height: 6, rx: 2 }));
    svg.append(draw("rect", { class: "value", x: 0, y: 4, width: Math.max(0.6, 100 * entry.share), height: 6, rx: 2 }));
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
      (!outcome || item.outcome === outcome || item.change === outcome) &&
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
  const tokens = (sql) => String(sql || "").match(/'(?:[^']|'')*'|"[^"]*"|\w+|\s+|[^\w\s]/g) || [];

  const compare = (gold, predicted) => {
    const [a, b] = [tokens(gold), tokens(predicted)];
    if (a.length * b.length > 400000) return [[["", gold]], [["", predicted]]];
    const same = (x, y) => x.toLowerCase() === y.toLowerCase() || (!x.trim() && !y.trim());
    const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        table[i][j] = same(a[i], b[j]) ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
      }
    }
    const [left, right] = [[], []];
    let [i, j] = [0, 0];
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && same(a[i], b[j])) {
        left.push(["", a[i]]); right.push(["", b[j]]); i += 1; j += 1;
      } else if (j >= b.length || (i < a.length && table[i + 1][j] >= table[i][j + 1])) {
        left.push([a[i].trim() ? "del" : "", a[i]]); i += 1;
      } else {
        right.push([b[j].trim() ? "ins" : "", b[j]]); j += 1;
      }
    }
    return [left, right];
  };

  const marked = (parts) => {
    const pre = make("pre");
    for (const [kind, text] of parts) pre.append(kind ? make(kind, { text }) : document.createTextNode(text));
    return pre;
  };

  const showResult = (result, marks, kind) => {
    if (!result) return make("p", { class: "soft", text: "Not kept." });
    if (result.status) return make("pre", { text: `${words(result.status)}: ${result.message}` });
    const known = new Map();
    for (const row of marks || []) known.set(JSON.stringify(row), (known.get(JSON.stringify(row)) || 0) + 1);
    const body = make("tbody");
    for (const row of result.rows) {
      const key = JSON.stringify(row);
      const left = known.get(key) || 0;
      if (left) known.set(key, left - 1);
      body.append(make("tr", { class: left ? kind : "" }, ...row.map((cell) =>
        cell === null ? make("td", { class: "null", text: "NULL" }) : make("td", { text: String(cell), title: String(cell) }))));
    }
    const head = make("thead", {}, make("tr", {}, ...result.columns.map((label) => make("th", { text: label }))));
    const more = result.n > result.rows.length ? make("p", { class: "soft", text: `${result.rows.length} of ${result.n.toLocaleString("en")} rows` }) : null;
    return make("div", {}, make("div", { class: "table", tabindex: "0" }, make("table", {}, head, body)), more);
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
    fact("written at", item.where);
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
      body.push(make("div", { class: "pair" },
        titled(`Gold rows${missing ? `, ${missing.toLocaleString("en")} missing from the prediction` : ""}`, showResult(item.gold_result, match.missing, "missing")),
        titled(`Predicted rows${extra ? `, ${extra.toLocaleString("en")} too many` : ""}`, showResult(item.predicted_result, match.extra, "extra"))));
    }
    if (item.reply) body.push(titled("Reply of the model", make("pre", { text: item.reply })));
    body.push(facts);
    if (data.schemas[item.database]) {
      const details = make("details", {}, make("summary", { text: "Schema" }), make("pre", { text: data.schemas[item.database] }));
      body.push(details);
    }
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
    const key = decodeURIComponent(found[1]);
    const item = cases.find((one) => `${one.suite}/${one.id}` === key);
    if (item) { chosen = shown.indexOf(item); if (chosen >= 0) choose(chosen); open(item); }
  };

  // --- wiring
  $("filters").addEventListener("input", () => filter());
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
  fill("outcome", "any outcome", new Set(cases.flatMap((item) => [item.outcome, item.change])));
  fill("cause", "any cause", new Set(cases.flatMap((item) => [...(item.causes || []), item.reason])));
  fill("tag", "any tag", new Set(cases.flatMap((item) => [item.difficulty, ...item.tags])));
  fill("suite", "any suite", new Set(cases.map((item) => item.suite)));
  fill("database", "any database", new Set(cases.map((item) => item.database)));
  for (const id of ["suite", "database", "tag"]) if ($(id).options.length < 3) $(id).hidden = true;
  filter();
  openLink();
})();
