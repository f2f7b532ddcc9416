package placement

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
)

// Problem is a phase of tasks to place, with the data and the links of each rack. A host knows these numbers when
// the tasks of the previous phase have ended. The package does not change a Problem and keeps no reference to its
// slices.
type Problem struct {
	// Input is the matrix I of the paper: Input[k][j] is the number of bytes of the input of task k that are in
	// rack j. Each row has an entry for each rack. An entry is finite and at least 0. Numbers of bytes up to 2^53
	// are exact.
	Input [][]float64
	// Up and Down are b_u and b_d of the paper: the bandwidth of the uplink and of the downlink of each rack, in
	// bytes per second, at least 0. They are the bandwidths that the phase will probably have; [BandwidthConfig]
	// estimates them from measured bandwidths. Over a link of bandwidth 0 no data may move. A link of bandwidth
	// +Inf takes no time.
	Up, Down []float64
	// Slots is the number of tasks that can run in each rack, at least 0. Nil means that all tasks can run in each
	// rack.
	Slots []int
}

// Direction says which of the two links of a rack is meant. The values and the names of the constants will not
// change.
type Direction uint8

// The two links of a rack: the uplink and the downlink.
const (
	Up   Direction = iota // out of the rack
	Down                  // into the rack
)

var directionNames = [...]string{Up: "up", Down: "down"}

// String returns the name of the direction.
func (d Direction) String() string { return enum.Name(directionNames[:], d) }

// MarshalText returns the name of the direction. It returns an error if the value has no name.
func (d Direction) MarshalText() ([]byte, error) { return enum.Text(directionNames[:], d) }

// UnmarshalText sets the direction to the constant whose name is text. It returns an error if none has this name.
func (d *Direction) UnmarshalText(text []byte) error { return enum.Parse(directionNames[:], text, d) }

// Link is the uplink or the downlink of a rack.
type Link struct {
	// Rack is the index of the rack.
	Rack int
	// Direction is Up for the uplink and Down for the downlink.
	Direction Direction
}

// String returns a name of the link such as "rack-3-down".
func (l Link) String() string { return fmt.Sprintf("rack-%d-%s", l.Rack, l.Direction) }

// MarshalText returns the result of String. It returns an error if the direction has no name.
func (l Link) MarshalText() ([]byte, error) {
	_, err := l.Direction.MarshalText()
	return []byte(l.String()), err
}

// check returns an error for the first number of the problem that is out of range. It does not compare the number
// of tasks with the slots.
func (p *Problem) check() error {
	r := len(p.Up)
	if len(p.Down) != r {
		return fmt.Errorf("placement: Problem.Down has %d racks, want %d as in Problem.Up", len(p.Down), r)
	}
	if p.Slots != nil && len(p.Slots) != r {
		return fmt.Errorf("placement: Problem.Slots has %d racks, want %d as in Problem.Up", len(p.Slots), r)
	}
	if r == 0 && len(p.Input) > 0 {
		return fmt.Errorf("placement: Problem.Up has 0 racks, want at least 1 for the %d tasks of Problem.Input", len(p.Input))
	}
	for j := range r {
		if !(p.Up[j] >= 0) {
			return check.Bad("placement", check.At("Problem.Up", j, ""), p.Up[j], "a bandwidth of at least 0")
		}
		if !(p.Down[j] >= 0) {
			return check.Bad("placement", check.At("Problem.Down", j, ""), p.Down[j], "a bandwidth of at least 0")
		}
		if p.Slots != nil && p.Slots[j] < 0 {
			return check.Bad("placement", check.At("Problem.Slots", j, ""), p.Slots[j], "at least 0")
		}
	}
	return p.checkInput()
}

// checkInput returns an error if the size of an input is out of range, or if a sum of bytes or the time of a
// transfer overflows.
func (p *Problem) checkInput() error {
	r, total := len(p.Up), 0.0
	for k, row := range p.Input {
		if len(row) != r {
			return fmt.Errorf("placement: Problem.Input[%d] has %d racks, want %d as in Problem.Up", k, len(row), r)
		}
		for j, bytes := range row {
			if !(bytes >= 0) || math.IsInf(bytes, 1) {
				return check.Bad("placement", fmt.Sprintf("Problem.Input[%d][%d]", k, j), bytes, "a finite number of at least 0")
			}
			total += bytes
		}
		if math.IsInf(total, 1) {
			return fmt.Errorf("placement: the sum of Problem.Input overflows at task %d, want a finite sum", k)
		}
	}
	for j := range r {
		// If the bandwidth is so small that times overflow, two infinite times would be compared as equal.
		if p.Up[j] > 0 && math.IsInf(total/p.Up[j], 1) {
			return fmt.Errorf("placement: Problem.Up[%d] is %v, too small to divide %v bytes by", j, p.Up[j], total)
		}
		if p.Down[j] > 0 && math.IsInf(total/p.Down[j], 1) {
			return fmt.Errorf("placement: Problem.Down[%d] is %v, too small to divide %v bytes by", j, p.Down[j], total)
		}
	}
	return nil
}

// checkSlots returns an error if all racks together have fewer slots than the phase has tasks.
func (p *Problem) checkSlots() error {
	if p.Slots == nil {
		return nil
	}
	n, free := len(p.Input), 0
	for _, slots := range p.Slots {
		if free >= n {
			break
		}
		free += min(slots, n)
	}
	if free >= n {
		return nil
	}
	return fmt.Errorf("placement: the sum of Problem.Slots is %d, want at least %d, a slot for each task", free, n)
}
