// Several views under one budget: every one shows its part of what the method allocates.
const PARTS = { tokens: TokenView, mesh: MeshView, texture: TextureView };

class PoolView {
  modes = ["what the budget buys", "where it goes, by level"];
  hint = "one budget of bytes for all; errors have no common unit, so each counts as a share of what it is at the least budget";

  constructor(record) {
    Object.assign(this, record);
    this.parts = record.members.map((member) => new PARTS[member.kind](member));
    this.shares = record.members.map(() => element("p", { class: "hint" }));
    const cells = this.parts.map((part, i) => element("div", {}, part.canvas, this.shares[i]));
    this.canvas = element("div", { class: "parts" }, ...cells);
  }

  async load() {
    for (const part of this.parts) await part.load();
  }

  draw(track, step, mode) {
    track.parts ??= track.members.map((member) => new Track(member));
    this.parts.forEach((part, i) => {
      const mine = track.parts[i], cost = mine.cost[step];
      // Clusters are told apart by level in their third mode, patches and pages in their second.
      part.draw(mine, step, mode && this.members[i].kind === "mesh" ? 2 : mode);
      this.shares[i].textContent = `${part.name}: ${count(cost)} bytes, ${amount((100 * cost) / track.cost[step])} % of what is spent`;
    });
  }
}
