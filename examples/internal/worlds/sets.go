package worlds

import (
	"slices"
	"strings"
)

// ReferenceCells lists the fifteen cells in which the default policy was first compared with the reference, a host
// that knows the distributions.
func ReferenceCells() []Cell {
	return cells(
		"15 % attempts 8x/3w linear",
		"15 % attempts 8x/3w noisy",
		"15 % attempts 8x/3w none",
		"15 % attempts 8x/1w none",
		"5 % attempts 8x/3w noisy",
		"5 % attempts 8x/1w none",
		"two bad 4x 12x/3w linear",
		"two bad 4x 12x/3w noisy",
		"two bad 4x 12x/1w none",
		"20 % interference, 5 % 8x/3w none",
		"10 % hang, timeout 1500 s/3w none",
		"lognormal 1 sizes, unknown/3w none",
		"far 5x everywhere, unknown/3w none",
		"lognormal 1 sizes, unknown, 5 % 8x/3w none",
		"lognormal 1 sizes, unknown, 5 % 8x/3w noisy",
	)
}

// OwnCells lists thirteen more cells. They were chosen before any constant of the default policy was fixed by them.
func OwnCells() []Cell {
	return cells(
		"15 % attempts 8x/30w noisy",
		"5 % attempts 8x/30w none",
		"two bad 4x 12x/30w noisy",
		"five mild 1.5x/3w noisy",
		"two bad 4x 12x/0.75w none",
		"10 GPU 3x faster/3w noisy",
		"Pareto 1.3 sizes, unknown/3w noisy",
		"10 % hang, timeout 1500 s/1w linear",
		"lag 10 s, 15 % 8x/3w none",
		"25 % attempts 3x/2w noisy",
		"10 % attempts 4x/5w none",
		"two kinds of sizes, unknown, 5 % 10x/4w noisy",
		"healthy/3w noisy",
	)
}

// Developed lists the worlds of [All], [Later] and [Latest].
func Developed() []World { return slices.Concat(All(), Later(), Latest()) }

// cells returns the cells with the given names: the world, a space and the model.
func cells(names ...string) (found []Cell) {
	all := Developed()
	for _, name := range names {
		at := strings.LastIndexByte(name, ' ')
		w := slices.IndexFunc(all, func(w World) bool { return w.Name == name[:at] })
		found = append(found, Cell{World: all[w], Model: Model(slices.Index(modelNames[:], name[at+1:]))})
	}
	return found
}

// EachModel lists the cells of the worlds: each world under each model of progress.
func EachModel(all []World) []Cell { return under(all, Models...) }

// under lists each world under each of the models.
func under(all []World, models ...Model) (found []Cell) {
	for _, w := range all {
		for _, m := range models {
			found = append(found, Cell{World: w, Model: m})
		}
	}
	return found
}
