// One section for each view: slider, method, what is drawn, numbers and curve.
const VIEWS = { ...PARTS, slide: SlideView, flight: FlightView, trace: TraceView, pool: PoolView };
const data = JSON.parse(document.getElementById("data").textContent);
const explorers = [];
const levelColour = (level) => data.level_colours[level % data.level_colours.length];

class Explorer {
  constructor(record) {
    this.view = new VIEWS[record.kind](record);
    this.tracks = record.tracks.map((track) => new Track(track));
    this.track = this.tracks[0];
    this.mode = 0;
    // A step of a view along a path is one frame with one pool.
    this.frames = record.frames ?? 1;
    this.slider = range(this.track.budgets.length / this.frames, record.start);
    this.path = range(this.frames, Math.floor(this.frames / 2));
    this.methods = choice(this.tracks.map((track) => track.name), (i) => this.choose(i));
    this.modes = choice(this.view.modes, (i) => { this.mode = i; this.show(); });
    this.numbers = element("dl", { "aria-live": "polite" });
    this.means = this.tracks.map((track) => (this.frames > 1 ? track.along(this.frames) : track));
    this.curve = new Curve(record, this.means);
    for (const moved of [this.slider, this.path]) moved.addEventListener("input", () => this.showNext());
  }

  section(record) {
    const left = element("div", {}, this.view.canvas, element("p", { class: "hint" }, this.view.hint ?? "arrow keys move the budget by one step"));
    const choices = element("div", { class: "choices" }, named("method", this.methods), named("picture", this.modes));
    const bound = record.bound ?? "no cut of the hierarchy goes below";
    const along = this.frames > 1 ? [named("frame of the path", this.path)] : [];
    const right = element("div", {}, named(`budget in ${record.unit}`, this.slider), ...along, choices, this.numbers, this.curve.svg,
      element("ul", { class: "legend" }, ...this.tracks.map((track, i) => entry(track.name, COLOURS[i % COLOURS.length]))),
      element("p", { class: "hint" }, `${record.error} against ${record.unit}${bound && "; dotted: proven, "}${bound}`));
    const heading = element("h2", {}, record.query ? `${record.name}: ${record.query}` : record.name);
    return element("section", {}, heading, element("div", { class: "columns" }, left, right));
  }

  choose(i) {
    this.track = this.tracks[i];
    this.show();
  }

  // A slider may move more often than pictures are shown: where it is then counts.
  showNext() {
    this.next ??= requestAnimationFrame(() => { this.next = undefined; this.show(); });
  }

  show() {
    const row = Number(this.slider.value), frame = Number(this.path.value), step = row * this.frames + frame;
    const { budgets, cost, residual, least, loaded } = this.track, mean = this.means[this.tracks.indexOf(this.track)];
    this.view.draw(this.track, step, this.mode);
    this.curve.mark(mean.cost[row], mean.residual[row]);
    this.path.setAttribute("aria-valuetext", `frame ${frame + 1} of ${this.frames}`);
    const unit = this.view.unit, rest = residual[step] - least[step];
    const known = Number.isFinite(least[step]);
    // Relative to what must remain; where that is nothing, to nothing.
    const gap = !known ? "no bound" : rest <= 0 ? "0 %" : least[step] > 0 ? `${amount((100 * rest) / least[step])} %` : "all that is left";
    this.slider.setAttribute("aria-valuetext", `${count(budgets[step])} ${unit}`);
    const path = loaded && { "loaded in this frame": `${count(loaded[step])} ${unit}`, "mean error of the path": amount(mean.residual[row]) };
    this.numbers.replaceChildren(...pairs({
      budget: `${count(budgets[step])} ${unit}`,
      [loaded ? "held" : "spent"]: `${count(cost[step])} ${unit}`,
      left: `${count(budgets[step] - cost[step])} ${unit}`,
      "error left": amount(residual[step]),
      ...path,
      "no cut goes below": known ? amount(least[step]) : "not known",
      "gap to that": gap,
    }));
  }
}

function range(steps, value) {
  const made = element("input", { type: "range", min: 0, max: steps - 1, step: 1 });
  made.value = value;
  return made;
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

// Around the control: views of one kind may stand on a page several times, so that ids would not be unique.
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
