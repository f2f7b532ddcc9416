package machines

import (
	"fmt"
	"math"
	"time"
)

// Config holds the choices of a [Record]. Its zero value is usable.
type Config struct {
	// Memory is the age at which evidence counts half; what is much older hardly counts. 0 means an hour.
	Memory time.Duration
	// Trust is how many attempts' worth of evidence it takes to outvote the assumption that a machine is as its class
	// is. 0 means 2: a machine is not branded by two slow tasks, and is by three.
	Trust float64
	// Limit bounds each ratio, and so the factor, to [1/Limit, Limit]. 0 means 100.
	Limit float64
	// SlowFactor is the factor against its class from which on a machine is slow. 0 means 2.
	SlowFactor float64
	// MaxShare is the largest share of a class that may be called slow at once, in (0, 1/2], rounded down to whole
	// machines, but one where there are two or more. 0 means 0.25, the share of slow nodes in LATE.
	MaxShare float64
	// MaxMachines is how many machines are remembered. One more takes the place of the one that was heard of longest
	// ago. 0 means 65,536.
	MaxMachines int
}

// fill sets the defaults and reports the field that is out of range, if any.
func (c *Config) fill() error {
	if c.Memory == 0 {
		c.Memory = time.Hour
	}
	if c.MaxMachines == 0 {
		c.MaxMachines = 1 << 16
	}
	if c.Memory < 0 {
		return fmt.Errorf("machines: Config.Memory is %v, want a positive duration, or 0 for the default", c.Memory)
	}
	if c.MaxMachines < 0 || c.MaxMachines > maxMachines {
		return fmt.Errorf("machines: Config.MaxMachines is %d, want 1 to %d, or 0 for the default",
			c.MaxMachines, maxMachines)
	}
	for _, f := range [...]struct {
		name               string
		value              *float64
		usual, least, most float64
	}{
		{"Trust", &c.Trust, 2, 0, 1e6},
		{"Limit", &c.Limit, 100, 1, 1e6},
		{"SlowFactor", &c.SlowFactor, 2, 1, 1e6},
		{"MaxShare", &c.MaxShare, .25, 0, .5},
	} {
		if *f.value == 0 {
			*f.value = f.usual
		}
		if !(*f.value >= f.least && *f.value <= f.most) || math.IsInf(*f.value, 0) {
			return fmt.Errorf("machines: Config.%s is %v, want %v to %v, or 0 for the default",
				f.name, *f.value, f.least, f.most)
		}
	}
	return nil
}
