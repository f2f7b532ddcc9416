package placement

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
)

// Problem is what is to be placed and where: the facts that a host knows once the tasks of the phase before have
// finished. It is read, never kept or changed.
type Problem struct {
	// Input is the matrix I of the paper: Input[task][rack] bytes of the task's input lie in the rack. Every row has one
	// entry per rack, none of them negative. Bytes are exact up to 2^53.
	Input [][]float64
	// Up and Down are b_u and b_d, the bandwidths that the phase may count on out of and into each rack, in bytes per
	// second. A link of bandwidth 0 carries nothing, so no placement may need it; +Inf is a link that never matters.
	// [BandwidthConfig] derives them from what was measured.
	Up, Down []float64
	// Slots is the number of tasks that each rack can hold. Nil means that every rack can hold all of them.
	Slots []int
}

// Direction tells the two links of a rack apart. The values and names are stable.
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

// UnmarshalText takes a direction's name.
func (d *Direction) UnmarshalText(text []byte) error { return enum.Parse(directionNames[:], text, d) }

// Link is one of the two links of a rack.
type Link struct {
	Rack      int
	Direction Direction
}

// String returns the link as "rack-3-down".
func (l Link) String() string { return fmt.Sprintf("rack-%d-%s", l.Rack, l.Direction) }

// MarshalText returns what String does; it is an error for a direction that does not exist.
func (l Link) MarshalText() ([]byte, error) {
	_, err := l.Direction.MarshalText()
	return []byte(l.String()), err
}

// UnmarshalText sets the link by its text.
func (l *Link) UnmarshalText(text []byte) error {
	rack, direction, ok := strings.Cut(strings.TrimPrefix(string(text), "rack-"), "-")
	var read Link
	if err := read.Direction.UnmarshalText([]byte(direction)); ok && err != nil {
		return err
	}
	n, err := strconv.ParseUint(rack, 10, 31)
	if read.Rack = int(n); err != nil || read.String() != string(text) {
		return check.Bad("placement", "Link", string(text), "such as rack-3-up")
	}
	*l = read
	return nil
}

// check reports the first thing that is wrong with the problem's figures, whatever the placement.
func (p *Problem) check() error {
	r := len(p.Up)
	if len(p.Down) != r {
		return fmt.Errorf("placement: Problem.Down has %d racks, Problem.Up has %d", len(p.Down), r)
	}
	if p.Slots != nil && len(p.Slots) != r {
		return fmt.Errorf("placement: Problem.Slots has %d racks, Problem.Up has %d", len(p.Slots), r)
	}
	if r == 0 && len(p.Input) > 0 {
		return fmt.Errorf("placement: %d tasks and no rack", len(p.Input))
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

func (p *Problem) checkInput() error {
	r, total := len(p.Up), 0.0
	for k, row := range p.Input {
		if len(row) != r {
			return fmt.Errorf("placement: Problem.Input[%d] has %d racks, Problem.Up has %d", k, len(row), r)
		}
		for j, bytes := range row {
			if !(bytes >= 0) || math.IsInf(bytes, 1) {
				return check.Bad("placement", fmt.Sprintf("Problem.Input[%d][%d]", k, j), bytes, "a finite number of at least 0")
			}
			total += bytes
		}
		if math.IsInf(total, 1) {
			return fmt.Errorf("placement: the sum of Problem.Input overflows at task %d", k)
		}
	}
	for j := range r {
		// A bandwidth so small that a time overflows would make two infinitely long transfers equally good.
		if p.Up[j] > 0 && math.IsInf(total/p.Up[j], 1) {
			return fmt.Errorf("placement: Problem.Up[%d] is %v, too small to divide %v bytes by", j, p.Up[j], total)
		}
		if p.Down[j] > 0 && math.IsInf(total/p.Down[j], 1) {
			return fmt.Errorf("placement: Problem.Down[%d] is %v, too small to divide %v bytes by", j, p.Down[j], total)
		}
	}
	return nil
}

// checkSlots reports whether all tasks fit at once.
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
	return fmt.Errorf("placement: Problem.Slots of %d racks sum to %d, too few for %d tasks", len(p.Slots), free, n)
}
