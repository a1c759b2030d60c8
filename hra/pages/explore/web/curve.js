// Error against cost on logarithmic axes: every method, what no choice goes below, and where the slider stands.
const COLOURS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];
const WIDTH = 420, HEIGHT = 260, LEFT = 56, BOTTOM = 34, STRIP = 120;

class Curve {
  constructor(view, tracks) {
    const positive = tracks.flatMap((track) => [...track.residual, ...track.least]).filter((value) => value > 0);
    const costs = tracks.flatMap((track) => [...track.cost]).filter((value) => value > 0);
    this.x = axis(costs, LEFT, WIDTH - 10);
    // Four decades: what is left at full detail is rounding.
    this.y = axis(positive.map((value) => Math.max(value, Math.max(...positive) / 1e4)), HEIGHT - BOTTOM, 10);
    const lines = tracks.map((track, i) => path(this, track.cost, track.residual, COLOURS[i % COLOURS.length], ""));
    lines.push(path(this, tracks[0].cost, tracks[0].least, "currentColor", "3 3"));
    this.point = shape("circle", { r: 5, fill: "currentColor" });
    const words = [
      text(LEFT, HEIGHT - 8, `${view.unit}, ${count(this.x.low)} to ${count(this.x.high)}`),
      text(4, 12, amount(this.y.high)),
      text(4, HEIGHT - BOTTOM, amount(this.y.low)),
    ];
    this.svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${view.error} against ${view.unit}` });
    this.svg.append(...words, ...lines, this.point);
  }

  mark(cost, residual) {
    this.point.setAttribute("cx", this.x(cost));
    this.point.setAttribute("cy", this.y(residual));
  }
}

function axis(values, from, to) {
  const low = Math.min(...values), high = Math.max(...values, low * 1.0001);
  const place = (value) => from + ((to - from) * Math.log(Math.max(value, low) / low)) / Math.log(high / low);
  return Object.assign(place, { low, high });
}

function path(curve, cost, error, colour, dashes) {
  const points = [];
  for (let i = 0; i < cost.length; i++) if (Number.isFinite(error[i])) points.push(`${curve.x(cost[i])},${curve.y(error[i])}`);
  return shape("polyline", { points: points.join(" "), fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dashes });
}

function text(x, y, words) {
  const made = shape("text", { x, y });
  made.textContent = words;
  return made;
}

function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
