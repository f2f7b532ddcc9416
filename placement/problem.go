package placement

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
)

// Problem is a phase of tasks to place, with the data and links of each rack. A host knows these facts once the tasks of
// the previous phase have ended. The package only reads a Problem: it keeps no part and changes no part.
type Problem struct {
	// Input is the matrix I of the paper: Input[task][rack] is the number of bytes of the task's input in the rack. Each
	// row has one entry for each rack. An entry is finite and at least 0. Bytes are exact up to 2^53.
	Input [][]float64
	// Up and Down are b_u and b_d of the paper: the bandwidths of each rack's uplink and downlink that the phase may
	// count on, in bytes per second, at least 0. A link of bandwidth 0 carries no data, so no placement may need this
	// link. A link of bandwidth +Inf is never a bottleneck. [BandwidthConfig] derives these bandwidths from measured
	// bandwidths.
	Up, Down []float64
	// Slots is the number of tasks that each rack can hold, at least 0. Nil means that each rack can hold all tasks.
	Slots []int
}

// Direction distinguishes the two links of a rack. The values and names are stable.
type Direction uint8

// A rack's links.
const (
	Up   Direction = iota // out of the rack
	Down                  // into the rack
)

var directionNames = [...]string{"up", "down"}

// String returns the direction's name.
func (d Direction) String() string { return enum.Name(directionNames[:], d) }

// MarshalText returns the direction's name, or an error for a value that does not exist.
func (d Direction) MarshalText() ([]byte, error) { return enum.Text(directionNames[:], d) }

// UnmarshalText reads a direction's name, and returns an error for any other text.
func (d *Direction) UnmarshalText(text []byte) error { return enum.Parse(directionNames[:], text, d) }

// Link is a rack's uplink or downlink.
type Link struct {
	// Rack is the index of the rack.
	Rack int
	// Direction is Up for the uplink and Down for the downlink.
	Direction Direction
}

// String returns the link as "rack-3-down".
func (l Link) String() string { return fmt.Sprintf("rack-%d-%s", l.Rack, l.Direction) }

// MarshalText returns the text of String, or an error for a direction that does not exist.
func (l Link) MarshalText() ([]byte, error) {
	_, err := l.Direction.MarshalText()
	return []byte(l.String()), err
}

// check returns an error for the first number that is out of range in every placement.
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

// checkInput checks the sizes of the inputs, and that no sum or transfer time overflows.
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
		// With a bandwidth so small that a time overflows, two infinite transfers would count as equally good.
		if p.Up[j] > 0 && math.IsInf(total/p.Up[j], 1) {
			return fmt.Errorf("placement: Problem.Up[%d] is %v, too small to divide %v bytes by", j, p.Up[j], total)
		}
		if p.Down[j] > 0 && math.IsInf(total/p.Down[j], 1) {
			return fmt.Errorf("placement: Problem.Down[%d] is %v, too small to divide %v bytes by", j, p.Down[j], total)
		}
	}
	return nil
}

// checkSlots returns an error if the racks have fewer slots than the phase has tasks.
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
