// One section for each view: slider, method, what is drawn, numbers and curve.
const VIEWS = { ...PARTS, pool: PoolView };
const data = JSON.parse(document.getElementById("data").textContent);
const explorers = [];
const levelColour = (level) => data.level_colours[level % data.level_colours.length];

class Explorer {
  constructor(record) {
    this.view = new VIEWS[record.kind](record);
    this.tracks = record.tracks.map((track) => new Track(track));
    this.track = this.tracks[0];
    this.mode = 0;
    this.slider = element("input", { type: "range", min: 0, max: this.track.budgets.length - 1, step: 1, id: `budget-${record.name}` });
    this.slider.value = record.start;
    this.methods = choice(this.tracks.map((track) => track.name), (i) => this.choose(i));
    this.modes = choice(this.view.modes, (i) => { this.mode = i; this.show(); });
    this.numbers = element("dl", { "aria-live": "polite" });
    this.curve = new Curve(record, this.tracks);
    this.slider.addEventListener("input", () => this.show());
  }

  section(record) {
    const label = element("label", { for: this.slider.id }, `budget in ${record.unit}`);
    const left = element("div", {}, this.view.canvas, element("p", { class: "hint" }, this.view.hint ?? "arrow keys move the budget by one step"));
    const choices = element("div", { class: "choices" }, named("method", this.methods), named("picture", this.modes));
    const right = element("div", {}, label, this.slider, choices, this.numbers, this.curve.svg,
      element("ul", { class: "legend" }, ...this.tracks.map((track, i) => entry(track.name, COLOURS[i % COLOURS.length]))),
      element("p", { class: "hint" }, `${record.error} against ${record.unit}; dotted: proven, no cut of the hierarchy goes below`));
    const heading = element("h2", {}, record.query ? `${record.name}: ${record.query}` : record.name);
    return element("section", {}, heading, element("div", { class: "columns" }, left, right));
  }

  choose(i) {
    this.track = this.tracks[i];
    this.show();
  }

  show() {
    const step = Number(this.slider.value), { budgets, cost, residual, least } = this.track;
    this.view.draw(this.track, step, this.mode);
    this.curve.mark(cost[step], residual[step]);
    const unit = this.view.unit, rest = residual[step] - least[step];
    const known = Number.isFinite(least[step]);
    // Relative to what must remain; where that is nothing, to nothing.
    const gap = !known ? "no bound" : rest <= 0 ? "0 %" : least[step] > 0 ? `${amount((100 * rest) / least[step])} %` : "all that is left";
    this.slider.setAttribute("aria-valuetext", `${count(budgets[step])} ${unit}`);
    this.numbers.replaceChildren(...pairs({
      budget: `${count(budgets[step])} ${unit}`,
      spent: `${count(cost[step])} ${unit}`,
      "error left": amount(residual[step]),
      "no cut goes below": known ? amount(least[step]) : "not known",
      "gap to that": gap,
    }));
  }
}

function entry(name, colour) {
  const line = element("li", {}, name);
  line.style.setProperty("--colour", colour);
  return line;
}

function choice(names, act) {
  const made = element("select", {}, ...names.map((name, i) => element("option", { value: i }, name)));
  made.addEventListener("change", () => act(Number(made.value)));
  return made;
}

function named(name, control) {
  return element("label", {}, name, control);
}

function pairs(record) {
  return Object.entries(record).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
}

async function start() {
  const main = document.getElementById("main");
  main.append(element("h1", {}, data.title));
  for (const record of data.views) {
    const explorer = new Explorer(record);
    main.append(explorer.section(record));
    await explorer.view.load();
    explorer.show();
    explorers.push(explorer);
  }
  document.documentElement.dataset.ready = "yes";
}

start();
