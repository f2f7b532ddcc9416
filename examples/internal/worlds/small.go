package worlds

import "fmt"

// Small lists a small scheduler's worlds: four workers of two slots, 40 tasks of 5 s, a report each second or none.
// One worker may be five times as slow, and some tasks are long on every worker. The host is told the sizes, or not.
func Small() []Cell {
	var all []World
	for _, of := range []struct {
		slow   bool
		long   int
		longBy float64
	}{{true, 0, 0}, {false, 3, 6}, {true, 3, 6}, {true, 3, 3}, {true, 8, 6}, {true, 1, 10}} {
		w := World{Tasks: 40, Machines: 4, Slots: 2, Sizes: Mild, Scale: .05, Interval: 1, Long: of.long, LongBy: of.longBy}
		w.Name = "four workers"
		if of.slow {
			w.Bad = []Bad{{Machines: 1, By: 5}}
			w.Name += ", one 5x slow"
		}
		if of.long > 0 {
			w.Name += fmt.Sprintf(", %d of 40 long %vx", of.long, of.longBy)
		}
		told := w
		told.Told = true
		told.Name += ", told"
		all = append(all, w, told)
	}
	return under(all, Linear, None)
}

// Long lists phases of 8 and 30 waves in which some attempts are slow. There, a slot is seldom idle.
func Long() []Cell {
	var all []World
	for _, tasks := range []int{160, 600} {
		for _, slow := range []float64{.05, .15} {
			name := fmt.Sprintf("%v %% attempts 8x/%dw, long", 100*slow, tasks/20)
			all = append(all, World{Name: name, Tasks: tasks, Slow: slow})
		}
	}
	return under(all, Linear, Noisy, None)
}

// Asking lists worlds in which the order of the idle machines matters. It has twelve tasks on sixteen machines, of
// which three are three times as slow, and larger phases.
func Asking() []Cell {
	var all []World
	for asks, name := range []string{"any order", "bad first", "bad last", "each time anew"} {
		for _, w := range []World{
			{Name: "12 tasks on 16 machines, three 3x", Tasks: 12, Machines: 16, Bad: []Bad{{Machines: 3, By: 3}}},
			{Name: "two bad 4x 12x/1w", Tasks: 20, Bad: twoBad},
			{Name: "two bad 4x 12x/3w", Tasks: 60, Bad: twoBad},
		} {
			if w.Asks = Asks(asks); w.Asks != Shuffled || w.Tasks == 12 { // All has the others
				w.Name += ", " + name
				all = append(all, w)
			}
		}
	}
	return under(all, Linear, Stalls, None)
}

// Spread lists worlds with a spread of sizes below the median, and slow attempts above it.
func Spread() []Cell {
	return under([]World{
		{Name: "sizes below the median/3w", Tasks: 60, Sizes: Below},
		{Name: "sizes below the median, 5 % 8x/3w", Tasks: 60, Sizes: Below, Slow: .05},
		{Name: "sizes below the median, 10 % 4x/1w", Tasks: 20, Sizes: Below, Slow: .1, SlowBy: 4},
		{Name: "sizes below the median, 10 % 3x/8w", Tasks: 160, Sizes: Below, Slow: .1, SlowBy: 3},
	}, Models...)
}
