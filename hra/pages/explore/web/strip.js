// Numbers along a path, one line for each, and where the path's slider stands; linear axes from zero.
class Strip {
  constructor(label, names) {
    const colours = [COLOURS[1], COLOURS[2], COLOURS[0]];
    this.label = label;
    this.lines = names.map((_, i) => shape("polyline", { fill: "none", stroke: colours[i % 3], "stroke-width": 1.5 }));
    this.top = text(4, 12, "");
    this.cursor = shape("line", { y1: 16, y2: STRIP, stroke: "currentColor", "stroke-dasharray": "3 3" });
    this.svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${STRIP}`, role: "img", "aria-label": label });
    this.svg.append(this.top, ...this.lines, this.cursor);
    this.legend = element("ul", { class: "legend" }, ...names.map((name, i) => entry(name, colours[i % 3])));
  }

  // Each row has a number for every point of the path.
  draw(rows, at) {
    const high = Math.max(1e-300, ...rows.flatMap((row) => [...row].filter(Number.isFinite)));
    const x = (i) => 4 + ((WIDTH - 8) * i) / Math.max(1, rows[0].length - 1);
    rows.forEach((row, i) => {
      const known = [...row].flatMap((value, k) => (Number.isFinite(value) ? [`${x(k)},${STRIP - 4 - ((STRIP - 24) * value) / high}`] : []));
      this.lines[i].setAttribute("points", known.join(" "));
    });
    this.top.textContent = `${this.label}, up to ${amount(high)}`;
    for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, x(at));
  }
}
