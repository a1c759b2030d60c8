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

async function decode(uri) {
  const image = new Image();
  image.src = uri;
  await image.decode();
  return image;
}
