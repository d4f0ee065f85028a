// Search on every page: Pagefind finds, this script mends typing errors and orders by names.
// Cutting into words, mending and name matching are those of indexer/search (words.py, spelling.py,
// ranking.py), so that the site and the command line agree.
const root = new URL(document.documentElement.dataset.root || "./", location.href);
const LOADED = { named: 24, rule: 10 };
const NAMED = { kind: { any: ["flag", "algorithm", "model", "path", "env"] } };
const SHORTEST_MENDED = 4;
const FEWEST = 3;

let engine;
function load() {
  engine ??= (async () => {
    const [pagefind, dictionary] = await Promise.all([
      import(new URL("pagefind/pagefind.js", root)),
      fetch(new URL("search-words.json", root)).then((answer) => answer.json()),
    ]);
    await pagefind.options({ baseUrl: "/", ranking: { termSimilarity: 1.0, termFrequency: 0.6, pageLength: 0.6 } });
    await pagefind.init();
    return { pagefind, known: new Map(Object.entries(dictionary.words)), synonyms: Object.assign(Object.create(null), dictionary.synonyms), small: new Set(dictionary.small) };
  })();
  return engine;
}

export function words(text) {
  const found = [];
  for (const run of text.match(/[A-Za-z0-9]+/g) ?? []) {
    const cut = [];
    for (const part of run.match(/[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+/g) ?? []) {
      if (/^\d/.test(part) && cut.length) cut[cut.length - 1] += part;
      else cut.push(part.toLowerCase());
    }
    found.push(...cut);
  }
  return found;
}

// Optimal string alignment distance, given up beyond `limit`.
function distance(a, b, limit) {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let [before, last] = [[], [...Array(b.length + 1).keys()]];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    if (Math.min(...row) > limit) return limit + 1;
    [before, last] = [last, row];
  }
  return last[b.length];
}

function mend(word, known) {
  if (word.length < SHORTEST_MENDED || known.has(word) || otherNumber(word).some((one) => known.has(one))) return null;
  const limit = word.length < 8 ? 1 : 2;
  let best = null;
  for (const [candidate, count] of known) {
    if (candidate.startsWith(word)) return null;
    const apart = distance(word, candidate, limit);
    if (apart > limit) continue;
    const key = [apart, candidate[0] === word[0] ? 0 : 1, -count];
    if (!best || key[0] - best.key[0] || key[1] - best.key[1] || key[2] - best.key[2]) {
      const order = best ? key[0] - best.key[0] || key[1] - best.key[1] || key[2] - best.key[2] : -1;
      if (order < 0) best = { candidate, key };
    }
  }
  return best?.candidate ?? null;
}

// What else a word may be called: words of the field, the other grammatical number.
function alternatives(term, synonyms) {
  return [...(synonyms[term] ?? []), ...otherNumber(term)];
}

function otherNumber(term) {
  if (!/^[a-z]{4,}$/.test(term) || /(ss|us|is)$/.test(term)) return [];
  return [term.endsWith("s") ? term.slice(0, -1) : `${term}s`];
}

// Neighbours that together are a word of the field are one: "prompt lookup".
function fieldTerms(terms, synonyms) {
  return terms.reduce((joined, term) => {
    const together = joined.at(-1) + term;
    return joined.length && Object.hasOwn(synonyms, together) ? [...joined.slice(0, -1), together] : [...joined, term];
  }, []);
}

function nameMatch(terms, names, synonyms) {
  return Math.max(0, ...(names ?? "").split(" ").map((name) => oneName(terms, name, synonyms)));
}

// How much of a rule's message a pasted log line says; what stands in braces is filled in at run time.
function messageMatch(terms, kind, title, small) {
  if (kind !== "rule") return 0;
  const parts = new Set(words(title.replace(/\{[^{}]*\}/g, " ")).filter((word) => !small.has(word)));
  if (parts.size < 2) return 0;
  const said = [...parts].filter((part) => terms.includes(part)).length;
  return (said / parts.size) ** 2 * Math.min(1, said / (0.4 * terms.length));
}

// A query that is one of a flag's choices is worth less than its name.
function valueMatch(terms, values) {
  const asked = terms.join("");
  return (values ?? "").split(" ").some((value) => value && words(value).join("") === asked) ? 0.6 : 0;
}

function oneName(terms, name, synonyms) {
  const parts = words(name);
  if (!parts.length) return 0;
  const joined = parts.join("");
  if (terms.join("") === joined) return 1;
  const together = gluedIn(terms, parts);
  const said = terms.reduce((sum, term) => sum + (together.has(term) ? 1 : best(term, parts, joined, synonyms)), 0) / terms.length;
  const wide = terms.concat(terms.flatMap((term) => alternatives(term, synonyms)));
  const heard = parts.filter((part) => wide.some((term) => part.startsWith(term))).length / parts.length;
  return 0.9 * said * said * (0.6 + 0.4 * heard);
}

// The words of a query that only together are a word of the name: "top k" in "topk".
function gluedIn(terms, parts) {
  const pairs = terms.slice(1).map((term, place) => [terms[place], term]);
  return new Set(pairs.filter((pair) => parts.includes(pair.join(""))).flat());
}

function best(term, parts, joined, synonyms) {
  if (parts.includes(term)) return 1;
  const begun = parts.filter((part) => part.startsWith(term));
  if (begun.length) return 0.5 + 0.4 * Math.max(...begun.map((part) => term.length / part.length));
  if (alternatives(term, synonyms).some((other) => parts.includes(other))) return 0.7;
  return term.length > 3 && joined.includes(term) ? 0.6 : 0;
}

// Pagefind wants every word on a page. Where too few pages with a name have all, words are left out one at
// a time, and at last each is asked for by itself.
async function candidates(pagefind, terms, synonyms) {
  const asked = [terms.join(" ")];
  if (terms.length > 1 && terms.length < 6) asked.push(terms.join(""));
  for (const term of terms) {
    for (const other of synonyms[term] ?? []) asked.push(terms.map((word) => (word === term ? other : word)).join(" "));
  }
  const fewer = terms.map((left) => terms.filter((term) => term !== left).join(" "));
  if (terms.length > 2 && terms.length < 7) asked.push(...fewer);
  let found = await merged(pagefind, asked);
  if (found.named < FEWEST && terms.length > 1) found = await merged(pagefind, [...asked, ...fewer]);
  if (found.named < FEWEST && terms.length > 3) found = await merged(pagefind, [...asked, ...pairs(terms)]);
  if (found.named < FEWEST && terms.length > 2) found = await merged(pagefind, [...asked, ...terms]);
  return found;
}

function pairs(terms) {
  return terms.flatMap((one, place) => terms.slice(place + 1).map((other) => `${one} ${other}`));
}

// Rules are many and long: they are asked for apart, so that they can't crowd out what has a name.
async function merged(pagefind, queries) {
  const [named, rules] = await Promise.all([NAMED, { kind: "rule" }].map((filters) => gathered(pagefind, queries, filters)));
  const total = named.length + rules.length;
  return Object.assign([...named.slice(0, LOADED.named), ...rules.slice(0, LOADED.rule)], { total, named: named.length });
}

async function gathered(pagefind, queries, filters) {
  const byId = new Map();
  for (const answer of await Promise.all([...new Set(queries)].map((query) => pagefind.search(query, { filters })))) {
    for (const hit of answer.results) {
      const known = byId.get(hit.id);
      if (!known || known.score < hit.score) byId.set(hit.id, hit);
    }
  }
  return [...byId.values()].sort((a, b) => b.score - a.score);
}

// One name's exact words may score low among long texts: names are ordered first, then the rest.
export async function search(text) {
  const { pagefind, known, synonyms, small } = await load();
  const mended = {};
  const asked = [...new Set(words(text))];
  const telling = asked.filter((word) => !small.has(word));
  const terms = fieldTerms(telling.length ? telling : asked, synonyms).map((word) => {
    const better = Object.hasOwn(synonyms, word) ? null : mend(word, known);
    if (better) mended[word] = better;
    return better ?? word;
  });
  if (!terms.length) return { hits: [], mended, total: 0, terms };
  const found = await candidates(pagefind, terms, synonyms);
  const top = Math.max(...found.map((hit) => hit.score), 0) || 1;
  const hits = (await Promise.all(found.map(async (hit) => {
    const data = await hit.data();
    const spelled = Math.max(nameMatch(terms, data.meta.names, synonyms), messageMatch(terms, data.meta.kind, data.meta.title, small), valueMatch(terms, data.meta.values));
    const score = Number(data.meta.weight) * (hit.score / top + 2 * spelled);
    return { ...data.meta, score, href: new URL(data.meta.href, root).href };
  }))).sort((a, b) => b.score - a.score || a.title.length - b.title.length);
  return { hits, mended, total: found.total, terms };
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function marked(text, terms) {
  const span = element("span", "t");
  const pattern = new RegExp(`(${terms.map((term) => term.replace(/[^a-z0-9]/g, "")).filter(Boolean).join("|")})`, "gi");
  for (const piece of text.split(pattern)) {
    if (!piece) continue;
    span.append(terms.includes(piece.toLowerCase()) ? element("mark", "", piece) : document.createTextNode(piece));
  }
  return span;
}

function mendedLine(mended) {
  const pairs = Object.entries(mended).map(([typed, meant]) => `“${typed}” as “${meant}”`);
  return pairs.length ? `Read ${pairs.join(", ")}.` : "";
}

function combobox(form) {
  const field = form.querySelector("input");
  const list = form.querySelector(".hits");
  let at = -1;
  let turn = 0;

  const options = () => [...list.querySelectorAll("a")];
  function close() {
    list.hidden = true;
    at = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }
  function choose(next) {
    const all = options();
    if (!all.length) return;
    at = (next + all.length) % all.length;
    all.forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    field.setAttribute("aria-activedescendant", all[at].id);
    all[at].scrollIntoView({ block: "nearest" });
  }
  async function update() {
    const text = field.value.trim();
    const mine = (turn += 1);
    if (!text) return close();
    let answer;
    try {
      answer = await search(text);
    } catch {
      if (mine === turn) { list.replaceChildren(element("p", "", "The search could not be loaded.")); list.hidden = false; }
      return undefined;
    }
    if (mine !== turn) return undefined;
    const lines = answer.hits.slice(0, 8).map((hit, place) => {
      const link = element("a", "");
      link.href = hit.href;
      link.id = `${list.id}-${place}`;
      link.tabIndex = -1;
      link.setAttribute("role", "option");
      link.setAttribute("aria-selected", "false");
      link.append(element("span", "badge", hit.kind), marked(hit.title, answer.terms), element("span", "s", hit.about || hit.cited));
      return link;
    });
    const told = answer.hits.length ? mendedLine(answer.mended) : `Nothing matches “${text}”.`;
    list.replaceChildren(...lines);
    if (told) list.append(element("p", "", told));
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    at = -1;
    return undefined;
  }

  field.addEventListener("focus", () => { load().catch(() => {}); });
  field.addEventListener("input", () => { clearTimeout(field.wait); field.wait = setTimeout(update, 60); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); if (list.hidden) update(); else choose(at + 1); }
    else if (event.key === "ArrowUp") { event.preventDefault(); choose(at < 0 ? -1 : at - 1); }
    else if (event.key === "Escape") { if (list.hidden) field.value = ""; close(); }
    else if (event.key === "Enter" && at >= 0 && !list.hidden) { event.preventDefault(); options()[at].click(); }
  });
  form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) setTimeout(close, 120); });
  form.addEventListener("submit", (event) => { if (!field.value.trim()) event.preventDefault(); });
}

function resultsPage() {
  const list = document.querySelector(".results");
  const field = document.querySelector(".search-page input");
  const status = document.querySelector(".search-status");
  const kinds = document.querySelector(".kind-filter");
  const asked = new URLSearchParams(location.search).get("q") ?? "";
  field.value = asked;
  if (!asked) { field.focus(); return; }
  status.textContent = "Searching…";
  search(asked).then((answer) => {
    const show = (kind) => {
      const chosen = answer.hits.filter((hit) => !kind || hit.kind === kind);
      status.textContent = answer.hits.length
        ? `${answer.total} ${answer.total === 1 ? "fact matches" : "facts match"}. ${mendedLine(answer.mended)}`
        : `Nothing matches “${asked}”. ${mendedLine(answer.mended)}`;
      list.replaceChildren(...chosen.map((hit) => {
        const item = document.createElement("li");
        const link = element("a", "");
        link.href = hit.href;
        link.append(element("span", "badge", hit.kind), marked(hit.title, answer.terms));
        if (hit.about) link.append(element("span", "s", hit.about));
        link.append(element("span", "p", hit.cited));
        item.append(link);
        return item;
      }));
      for (const button of kinds.children) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
    };
    const there = [...new Set(answer.hits.map((hit) => hit.kind))];
    if (there.length > 1) {
      kinds.replaceChildren(...["", ...there].map((kind) => {
        const button = element("button", "", kind || "all");
        button.type = "button";
        button.dataset.kind = kind;
        button.addEventListener("click", () => show(kind));
        return button;
      }));
      kinds.hidden = false;
    }
    show("");
  }).catch(() => { status.textContent = "The search could not be loaded."; });
}

for (const form of document.querySelectorAll("form.search")) combobox(form);
if (document.querySelector(".results")) resultsPage();
