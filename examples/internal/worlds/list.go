package worlds

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// listsText has the lists of worlds. A part of a list has worlds under models, or the names of cells of the list all, or
// the names of other lists. A field of a world that is not there is zero.
//
//go:embed lists.json
var listsText []byte

// Part is a part of a list of worlds.
type Part struct {
	List, About string
	Models      []Model
	Worlds      []World
	Cells, Of   []string
}

// Parts returns the parts of all lists. Parts of one list have one name, and the first of them tells what the list is
// about.
var Parts = sync.OnceValue(func() (all []Part) {
	d := json.NewDecoder(bytes.NewReader(listsText))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		panic(fmt.Errorf("lists.json: %w", err))
	}
	return all
})

// List returns the cells of the list with a name; none if there is no such list. Each cell has the name of the list in
// which it stands.
func List(name string) (cells []Cell) {
	for _, part := range Parts() {
		if part.List != name {
			continue
		}
		for _, w := range part.Worlds {
			for _, m := range part.Models {
				cells = append(cells, Cell{List: name, World: w, Model: m})
			}
		}
		for _, of := range part.Of {
			cells = append(cells, List(of)...)
		}
		for _, cell := range part.Cells {
			all := List(allWorlds)
			c := all[slices.IndexFunc(all, func(c Cell) bool { return c.String() == cell })]
			c.List = name
			cells = append(cells, c)
		}
	}
	return cells
}

// allWorlds is the list with the cells to which other lists refer by name.
const allWorlds = "all"

// UnmarshalText reads the name of a model, of a distribution of sizes, or of an order of idle slots.
func (m *Model) UnmarshalText(text []byte) error { return named(m, modelNames[:], text) }
func (s *Sizes) UnmarshalText(text []byte) error { return named(s, sizeNames, text) }
func (a *Asks) UnmarshalText(text []byte) error  { return named(a, asksNames, text) }

var (
	sizeNames = []string{"even", "log-normal", "pareto", "two kinds", "mild", "below", "exponential", "stretched"}
	asksNames = []string{"shuffled", "bad first", "bad last", "each time"}
)

func named[T ~uint8](to *T, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is none of %q", text, names)
	}
	*to = T(i)
	return nil
}
