// Filtering a table as one types, by words and facets; the state lives in the address.
const split = (text) => text.toLowerCase().replace(/^--/, "").split(/[^a-z0-9]+/).filter(Boolean);

function setUp(table) {
  const box = document.querySelector(`[data-filter-for="${table.id}"]`);
  const facets = document.querySelector(`[data-facets-for="${table.id}"]`);
  const field = box.querySelector("input");
  const shown = box.querySelector(".shown");
  const nothing = document.querySelector(".nothing");
  const summary = document.querySelector(".active-count");
  const rows = [...table.querySelectorAll(".item")].map((row) => ({
    row,
    text: ` ${split(row.dataset.words + " " + (row.querySelector(".sum")?.textContent ?? "")).join(" ")}`,
    glued: row.dataset.words.toLowerCase().replace(/[^a-z0-9 ]/g, ""),
  }));

  function chosen() {
    const picked = {};
    for (const input of facets?.querySelectorAll("input:checked") ?? []) (picked[input.name] ??= []).push(input.value);
    return picked;
  }

  function apply() {
    const words = split(field.value);
    const picked = chosen();
    let count = 0;
    for (const { row, text, glued } of rows) {
      const said = words.every((word) => text.includes(` ${word}`) || glued.includes(word));
      const fits = Object.entries(picked).every(([key, values]) => {
        const has = (row.dataset[key] ?? "").split("|");
        return key === "has" ? values.every((value) => has.includes(value)) : values.some((value) => has.includes(value));
      });
      row.hidden = !(said && fits);
      if (!row.hidden) count += 1;
    }
    for (const body of table.querySelectorAll("tbody[data-group], [data-section]")) {
      body.hidden = !body.querySelector(".item:not([hidden])");
    }
    shown.textContent = count;
    if (nothing) nothing.hidden = count > 0;
    const active = Object.values(picked).flat().length;
    if (summary) { summary.hidden = !active; summary.textContent = `(${active})`; }
    remember(field.value, picked);
  }

  function remember(text, picked) {
    const query = new URLSearchParams();
    if (text.trim()) query.set("q", text.trim());
    for (const [key, values] of Object.entries(picked)) for (const value of values) query.append(key, value);
    const tail = query.toString();
    history.replaceState(null, "", tail ? `?${tail}` : location.pathname);
  }

  const asked = new URLSearchParams(location.search);
  field.value = asked.get("q") ?? "";
  for (const input of facets?.querySelectorAll("input") ?? []) input.checked = asked.getAll(input.name).includes(input.value);
  field.addEventListener("input", apply);
  facets?.addEventListener("change", apply);
  facets?.addEventListener("reset", () => setTimeout(apply));
  document.querySelector(`[data-clear="${table.id}"]`)?.addEventListener("click", () => {
    field.value = "";
    facets?.reset();
    apply();
    field.focus();
  });
  if (matchMedia("(max-width: 820px)").matches) facets?.closest("details").removeAttribute("open");
  if ([...asked].length) apply();
}

for (const box of document.querySelectorAll("[data-filter-for]")) {
  const table = document.getElementById(box.dataset.filterFor);
  if (table) setUp(table);
}
