package trace

import (
	"strconv"
	"strings"
)

// retried marks the phases of Spark for which the log has a later attempt of the same stage: "stage 3.0", if there is
// "stage 3.1". Spark numbers the attempts of a stage without gaps.
func (b *builder) retried() {
	for i := range b.log.Phases {
		p := &b.log.Phases[i]
		at := strings.LastIndexByte(p.Name, '.') + 1
		if attempt, err := strconv.Atoi(p.Name[at:]); err == nil && at > 0 {
			_, p.Retried = b.phases[phaseName{p.Job, p.Name[:at] + strconv.Itoa(attempt+1)}]
		}
	}
}
