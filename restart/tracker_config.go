package restart

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/num"
)

// maxTasks keeps every index and count within 31 bits.
const maxTasks = 1 << 30

// fill checks the configuration and fills in its defaults.
func (c *Config) fill() error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Policy == nil {
		c.Policy = Mantri{}
	}
	if v, ok := c.Policy.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return err
		}
	}
	if c.Work != nil {
		c.Tasks = len(c.Work)
	}
	var mean float64
	c.Work, mean = num.Works(c.Work, c.Tasks)
	if c.Model.Window == 0 {
		c.Model.Window = times(c.Interval, 10)
	}
	if c.Model.Grace == 0 {
		c.Model.Grace = times(c.Interval, 2)
	}
	if c.Rates.Floor == 0 {
		c.Rates.Floor = mean / 10
	}
	if err := c.Model.Validate(); err != nil {
		return fmt.Errorf("restart: Config.Model: %w", err)
	}
	return nil
}

func (c *Config) check() error {
	switch {
	case c.Tasks < 0 || c.Tasks > maxTasks:
		return badField("Config", "Tasks", c.Tasks, "0 to 2^30")
	case c.Work != nil && c.Tasks != 0 && c.Tasks != len(c.Work):
		return badField("Config", "Tasks", c.Tasks, fmt.Sprintf("0 or len(Work), which is %d", len(c.Work)))
	case len(c.Work) > maxTasks:
		return badField("Config", "len(Work)", len(c.Work), "0 to 2^30")
	case c.Slots < 0 || c.Slots > maxTasks:
		return badField("Config", "Slots", c.Slots, "0 to 2^30")
	case c.Machines < 0 || c.Machines > maxTasks:
		return badField("Config", "Machines", c.Machines, "0 to 2^30; 0 if not known")
	case c.Interval < 0:
		return badField("Config", "Interval", c.Interval, "0 or more")
	case c.Lag < 0:
		return badField("Config", "Lag", c.Lag, "0 or more")
	}
	return nil
}

// needs says which facts a policy reads, so that the others need not be kept.
type needs uint8

const (
	needRates needs = 1 << iota
	needDurations
	needFinishedRates
	needProgressRates
	needScores
	needThroughput
	needMachines
	needAll = needRates | needDurations | needFinishedRates | needProgressRates | needScores | needThroughput | needMachines
)

func needsOf(p Policy) needs {
	switch p.(type) {
	case Mantri:
		return needRates
	case LATE:
		return needProgressRates | needMachines
	case Hadoop:
		return needScores
	case Dryad:
		return needDurations
	case Spark:
		return needDurations | needThroughput
	case Flink:
		return needDurations | needFinishedRates
	case MapReduce, Never:
		return 0
	}
	return needAll // a policy of the host's own may read anything
}
