package trace

import (
	"strconv"
	"strings"
)

// Retried reports for each phase whether the log has a later attempt of the same stage of Spark: "stage 3.1" for "stage 3.0".
// Spark gives that attempt the tasks without a success, under other numbers. It numbers the attempts of a stage without gaps.
func (l *Log) Retried() []bool {
	retried := make([]bool, len(l.Phases))
	if l.Format != Spark && l.Format != SparkREST {
		return retried
	}
	names := map[phaseName]bool{}
	for i := range l.Phases {
		names[phaseName{l.Phases[i].Job, l.Phases[i].Name}] = true
	}
	for i := range l.Phases {
		p := &l.Phases[i]
		at := strings.LastIndexByte(p.Name, '.') + 1
		if attempt, err := strconv.Atoi(p.Name[at:]); err == nil && at > 0 {
			retried[i] = names[phaseName{p.Job, p.Name[:at] + strconv.Itoa(attempt+1)}]
		}
	}
	return retried
}
