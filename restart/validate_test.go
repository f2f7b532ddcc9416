package restart_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
)

func TestValidateNamesFieldAndRange(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, policy := range map[string]interface{ Validate() error }{
		"restart: Mantri.MaxRestarts is -2, want a positive number, 0 for the default, or Off":  restart.Mantri{MaxRestarts: -2},
		"restart: Mantri.DuplicateThreshold is 1, want a probability in (0, 1), 0":              restart.Mantri{DuplicateThreshold: 1},
		"restart: Mantri.DuplicateThreshold is NaN":                                             restart.Mantri{DuplicateThreshold: nan},
		"restart: Mantri.IdleGain is +Inf, want a positive finite number, or 0 for the default": restart.Mantri{IdleGain: inf},
		"restart: Mantri.FastestKept is -1":                                                     restart.Mantri{FastestKept: -1},
		"restart: Mantri.CopyPause is -1":                                                       restart.Mantri{CopyPause: -1},
		"restart: Mantri.RaisedBar is NaN":                                                      restart.Mantri{RaisedBar: nan},
		"restart: LATE.SpeculativeCap is -1":                                                    restart.LATE{SpeculativeCap: -1},
		"restart: LATE.SlowNode is 1.5, want a share in (0, 1], 0 for the default, or Off":      restart.LATE{SlowNode: 1.5},
		"restart: LATE.SlowTask is NaN":                                                         restart.LATE{SlowTask: nan},
		"restart: LATE.MinAge is -2ns, want a positive duration, 0 for the default, or Off":     restart.LATE{MinAge: -2},
		"restart: Hadoop.ScoreLag is -1, want a share in (0, 1], or 0 for the default":          restart.Hadoop{ScoreLag: -1},
		"restart: Hadoop.MinAge is -1m0s":                                                       restart.Hadoop{MinAge: -minute},
		"restart: MapReduce.NearEnd is 2":                                                       restart.MapReduce{NearEnd: 2},
		"restart: Dryad.MinFinished is -1":                                                      restart.Dryad{MinFinished: -1},
		"restart: Dryad.Percentile is -1":                                                       restart.Dryad{Percentile: -1},
		"restart: Spark.Quantile is 1.1":                                                        restart.Spark{Quantile: 1.1},
		"restart: Spark.Multiplier is -1":                                                       restart.Spark{Multiplier: -1},
		"restart: Spark.SlowRate is -2":                                                         restart.Spark{SlowRate: -2},
		"restart: Spark.LongRun is NaN":                                                         restart.Spark{LongRun: nan},
		"restart: Spark.Duration is -1s":                                                        restart.Spark{Duration: -time.Second},
		"restart: Spark.ExecutorSlots is -1":                                                    restart.Spark{ExecutorSlots: -1},
		"restart: Spark.MinRuntime is -2ns":                                                     restart.Spark{MinRuntime: -2},
		"restart: Flink.Ratio is -0.5":                                                          restart.Flink{Ratio: -0.5},
		"restart: Flink.Multiplier is -1":                                                       restart.Flink{Multiplier: -1},
		"restart: Flink.LowerBound is -1s":                                                      restart.Flink{LowerBound: -time.Second},
	} {
		assert.ErrorContains(t, policy.Validate(), want)
		_, err := restart.NewTracker(restart.Config{Policy: policy.(restart.Policy)})
		assert.ErrorContains(t, err, want, "a Tracker validates its policy")
	}
	for _, policy := range policies() {
		if p, ok := policy.(interface{ Validate() error }); ok {
			assert.NoError(t, p.Validate())
		}
	}
}
