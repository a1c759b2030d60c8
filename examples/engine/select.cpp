// SPDX-License-Identifier: MIT-0 (LICENSES/MIT-0.txt): copy it into your engine without a notice.
//
// Which clusters of an .hra file a frame draws: the rule of docs/mesh-format.md, "What a renderer draws", for engines
// in C++17. `Mesh` reads the tables that the rule needs, `Lens::pixels` is how large a unit of length may look in a
// sphere, `select` is the rule. As a program it reads cameras from standard input and prints a cut for each:
//
//     g++ -std=c++17 -O2 -ffp-contract=off select.cpp -o select
//     ./select skull.hra < cameras.txt
//
// A camera is one line: 12 numbers of the world-to-view matrix by rows (right-handed, looking along -z), the focal
// length in pixels, the distance of the near plane, the cosine of the angle from the axis to the viewport's corner, and
// the tolerance in pixels.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct Sphere {
  double x, y, z, radius;
};

struct Lens {
  double view[12];
  double focal, near_plane, corner_cosine;

  // The most pixels that a unit of length covers anywhere in the visible part of a sphere.
  double pixels(const Sphere& s) const {
    const double* m = view;
    const double x = m[0] * s.x + m[1] * s.y + m[2] * s.z + m[3];
    const double y = m[4] * s.x + m[5] * s.y + m[6] * s.z + m[7];
    const double depth = -(m[8] * s.x + m[9] * s.y + m[10] * s.z + m[11]);
    const double lateral = std::sqrt(x * x + y * y);
    const double distance = std::sqrt(lateral * lateral + depth * depth);
    double cosine = corner_cosine;
    if (distance > s.radius) {
      // cos(t + a): t is the angle of the centre from the axis, a half of what the sphere takes up.
      const double per_distance = 1.0 / distance;
      const double sine = s.radius * per_distance;
      const double along = std::sqrt(std::max(1.0 - sine * sine, 0.0));
      cosine = std::max(cosine, (depth * along - lateral * sine) * per_distance);
    }
    return focal / (std::max(distance - s.radius, near_plane) * cosine * cosine);
  }
};

// The tables of clusters that the rule needs, and what they say of groups.
class Mesh {
 public:
  std::vector<std::int32_t> added_by, removed_by;  // of each cluster, -1 for none
  std::vector<Sphere> sphere;                      // of each group, around all that it stands for
  std::vector<double> error;                       // of each group, in object units; never falls towards the root

  explicit Mesh(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    data_.assign(std::istreambuf_iterator<char>(file), {});
    static const unsigned char magic[8] = {0x89, 'H', 'R', 'A', 0x0D, 0x0A, 0x1A, 0x0A};
    if (data_.size() < 64 || std::memcmp(data_.data(), magic, 8) != 0) throw std::runtime_error("no .hra file");
    const auto version = at<std::uint32_t>(12), clusters = at<std::uint32_t>(40), sections = at<std::uint32_t>(48);
    if (version < 1 || version > 4 || sections > 64) throw std::runtime_error("another version of .hra");
    std::map<std::string, std::uint64_t> where;
    for (std::uint32_t k = 0; k < sections; ++k) {
      char name[17] = {};
      std::memcpy(name, bytes(64 + 48 * k, 48), 16);
      where[name] = at<std::uint64_t>(64 + 48 * k + 24);
    }
    added_by = table<std::int32_t>(where.at("added_by"), clusters);
    removed_by = table<std::int32_t>(where.at("removed_by"), clusters);
    const auto center = table<float>(where.at("center"), 3 * std::size_t(clusters));
    const auto radius = table<float>(where.at("radius"), clusters);
    auto own = table<float>(where.at("error"), clusters);
    if (where.count("hausdorff")) {
      const auto bound = table<float>(where.at("hausdorff"), clusters);
      for (std::size_t c = 0; c < own.size(); ++c) own[c] = std::max(own[c], bound[c]);
    }
    // All clusters that one group was simplified to say the same of it.
    for (std::size_t c = 0; c < own.size(); ++c) {
      const auto group = removed_by[c];
      if (group < 0) continue;
      if (std::size_t(group) >= error.size()) error.resize(group + 1), sphere.resize(group + 1);
      error[group] = own[c];
      sphere[group] = {center[3 * c], center[3 * c + 1], center[3 * c + 2], radius[c]};
    }
  }

 private:
  std::vector<char> data_;

  const char* bytes(std::uint64_t offset, std::uint64_t count) const {
    if (offset > data_.size() || count > data_.size() - offset) throw std::runtime_error("the file is truncated");
    return data_.data() + offset;
  }
  template <class T>
  T at(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes(offset, sizeof(T)), sizeof(T));
    return value;
  }
  template <class T>
  std::vector<T> table(std::uint64_t offset, std::size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes(offset, count * sizeof(T)), count * sizeof(T));
    return values;
  }
};

// The clusters to draw so that no error covers more than `tolerance` pixels.
std::vector<std::uint32_t> select(const Mesh& mesh, const Lens& lens, double tolerance) {
  std::vector<char> refined(mesh.error.size());
  for (std::size_t g = 0; g < refined.size(); ++g)
    refined[g] = mesh.error[g] * lens.pixels(mesh.sphere[g]) > tolerance;
  std::vector<std::uint32_t> cut;
  for (std::size_t c = 0; c < mesh.added_by.size(); ++c) {
    const bool reached = mesh.added_by[c] < 0 || refined[mesh.added_by[c]];
    const bool passed = mesh.removed_by[c] >= 0 && refined[mesh.removed_by[c]];
    if (reached && !passed) cut.push_back(std::uint32_t(c));
  }
  return cut;
}

#ifndef SELECT_WITHOUT_MAIN
int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: select FILE.hra < cameras\n"), 2;
  try {
    const Mesh mesh(arguments[1]);
    Lens lens;
    double tolerance;
    while (true) {
      for (double& value : lens.view) std::cin >> value;
      if (!(std::cin >> lens.focal >> lens.near_plane >> lens.corner_cosine >> tolerance)) break;
      for (const auto cluster : select(mesh, lens, tolerance)) std::printf("%u ", cluster);
      std::printf("\n");
    }
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s: %s\n", arguments[1], error.what()), 1;
  }
}
#endif
