// The picture that tokens give back, and where they are.

class TokenView {
  modes = ["what the tokens give back", "where the tokens are"];

  constructor(record) {
    Object.assign(this, record);
    this.places = unpack(record.places);
    this.order = this.ordered();
    this.rank = new Uint32Array(this.order.length);
    this.order.forEach((node, i) => { this.rank[node] = i; });
    [this.height, this.width] = record.size;
    this.canvas = element("canvas", { width: this.width, height: this.height, role: "img", "aria-label": "the image from its tokens" });
    this.context = this.canvas.getContext("2d");
  }

  async load() {
    this.images = await Promise.all(this.levels.map(decode));
  }

  draw(track, step, mode) {
    this.context.imageSmoothingQuality = "high";
    if (track.grids) return this.drawSmall(...track.grids[step]);
    const [red, green, blue] = track.canvas ?? [128, 128, 128];
    this.context.fillStyle = `rgb(${red} ${green} ${blue})`;
    this.context.fillRect(0, 0, this.width, this.height);
    const runs = this.runs(track.at(step));
    for (const run of runs) this.drawRun(run);
    if (mode === 1) this.drawOutlines(runs);
  }

  // All nodes, coarse before fine, since a patch stays until its last child covers it; within a level row by row.
  ordered() {
    const place = (node) => this.places.subarray(3 * node, 3 * node + 3);
    const before = ([level, x, y], [other, right, below]) => other - level || y - below || x - right;
    return Array.from({ length: this.places.length / 3 }, (_, node) => node).sort((a, b) => before(place(a), place(b)));
  }

  // Neighbours in a row are drawn at once: thousands of patches would take longer than a frame.
  runs(nodes) {
    const found = [];
    let last = {};
    for (const rank of Uint32Array.from(nodes, (node) => this.rank[node]).sort()) {
      const [level, x, y] = this.places.subarray(3 * this.order[rank], 3 * this.order[rank] + 3);
      if (last.level === level && last.y === y && last.end === x) last.end++;
      else found.push((last = { level, x, y, end: x + 1 }));
    }
    return found;
  }

  drawRun({ level, x, y, end }) {
    const scale = 2 ** level, side = this.patch * scale, [left, top] = [x * side, y * side];
    const width = Math.min(end * side, this.width) - left, height = Math.min(side, this.height - top);
    this.context.drawImage(this.images[level], left / scale, top / scale, width / scale, height / scale, left, top, width, height);
  }

  drawOutlines(runs) {
    this.context.lineWidth = Math.max(1, this.width / 600);
    for (const level of new Set(runs.map((run) => run.level))) {
      const side = this.patch << level, lines = new Path2D();
      for (const { x, y, end } of runs.filter((run) => run.level === level))
        for (let i = x; i < end; i++) lines.rect(i * side + 1, y * side + 1, side - 2, side - 2);
      this.context.strokeStyle = levelColour(level);
      this.context.stroke(lines);
    }
  }

  drawSmall(rows, columns) {
    const small = new OffscreenCanvas(Math.min(columns * this.patch, this.width), Math.min(rows * this.patch, this.height));
    const pen = small.getContext("2d");
    pen.imageSmoothingQuality = "high";
    pen.drawImage(this.images[0], 0, 0, small.width, small.height);
    this.context.drawImage(small, 0, 0, this.width, this.height);
  }
}

// Tokens of an image of any size: the patches that any budget shows lie in one picture, and the canvas is a window.
class SlideView {
  modes = ["what the tokens give back", "where the tokens are"];
  hint = "the wheel zooms, dragging moves, a double click shows all";

  constructor(record) {
    Object.assign(this, record);
    this.places = unpack(record.places);
    [this.height, this.width] = record.size;
    const fit = 1200 / Math.max(this.width, this.height);
    this.canvas = element("canvas", { width: Math.ceil(this.width * fit), height: Math.ceil(this.height * fit), role: "img", "aria-label": "the image from its tokens" });
    this.context = this.canvas.getContext("2d");
    this.showAll();
    this.canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(1.2 ** -Math.sign(event.deltaY), ...this.at(event)); });
    this.canvas.addEventListener("pointermove", (event) => event.buttons && this.move(event));
    this.canvas.addEventListener("dblclick", () => { this.showAll(); this.paint(); });
  }

  async load() {
    this.image = await decode(this.atlas);
  }

  showAll() {
    this.scale = this.canvas.width / this.width;
    [this.left, this.top] = [0, 0];
  }

  // Where a pointer is, in pixels of the canvas, which the page may show smaller.
  at(event) {
    return [(event.offsetX * this.canvas.width) / this.canvas.clientWidth, (event.offsetY * this.canvas.height) / this.canvas.clientHeight];
  }

  zoom(factor, x, y) {
    const scale = Math.min(Math.max(this.scale * factor, this.canvas.width / this.width), 16);
    this.left += x / this.scale - x / scale;
    this.top += y / this.scale - y / scale;
    this.scale = scale;
    this.paint();
  }

  move(event) {
    const ratio = this.canvas.width / this.canvas.clientWidth / this.scale;
    this.left -= event.movementX * ratio;
    this.top -= event.movementY * ratio;
    this.paint();
  }

  draw(track, step, mode) {
    this.mode = mode;
    this.shown = [...track.at(step)].sort((a, b) => this.places[3 * b] - this.places[3 * a]);
    this.paint();
  }

  paint() {
    this.context.imageSmoothingEnabled = false;
    this.context.fillStyle = "#808080";
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    for (const node of this.shown) this.drawPatch(node);
  }

  drawPatch(node) {
    const [level, x, y] = this.places.subarray(3 * node, 3 * node + 3), scale = 2 ** level, side = this.patch * scale;
    const wide = Math.min(side, this.width - x * side), high = Math.min(side, this.height - y * side);
    const [left, top] = [(x * side - this.left) * this.scale, (y * side - this.top) * this.scale];
    const [right, bottom] = [left + wide * this.scale, top + high * this.scale];
    if (right < 0 || bottom < 0 || left > this.canvas.width || top > this.canvas.height) return;
    const from = [(node % this.columns) * this.patch, Math.floor(node / this.columns) * this.patch];
    this.context.drawImage(this.image, ...from, Math.ceil(wide / scale), Math.ceil(high / scale), left, top, right - left, bottom - top);
    if (this.mode !== 1) return;
    this.context.strokeStyle = levelColour(level);
    this.context.strokeRect(left, top, right - left, bottom - top);
  }
}

async function decode(uri) {
  const image = new Image();
  image.src = uri;
  await image.decode();
  return image;
}
