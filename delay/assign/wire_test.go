package assign

import (
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestDecisionsAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Decision{}, `wait no-reason`, `{"action":"wait","reason":"no-reason"}`)
	wiretest.Same(t, Decision{Reason: WindowOpen, Wait: 1},
		`wait window-open wait=1e-09s`, `{"action":"wait","reason":"window-open","wait":0.000000001}`)
	wiretest.Same(t, Decision{Reason: WindowOpen, Wait: Forever},
		`wait window-open wait=inf`, `{"action":"wait","reason":"window-open","wait":9223372036.854775807}`)
	wiretest.Same(t, Decision{Action: ReadShared, Reason: WindowOver, Input: 3, Clone: 2, KillRest: true},
		`share window-over input=3 clone=2 kill-rest=true`,
		`{"action":"share","reason":"window-over","input":3,"clone":2,"kill-rest":true}`)
	wiretest.Same(t, Decision{Action: Read, Reason: OwnOutput},
		`read own-output input=0 clone=0`, `{"action":"read","reason":"own-output","input":0,"clone":0}`)
}

func TestConfigsReadBack(t *testing.T) {
	wiretest.Settings(t, WindowTableConfig{Bins: []int{5, 50}, Contention: .5, Keep: 100, Pairing: Coordinated},
		`{"bins":[5,50],"contention":0.5,"keep":100,"pairing":"coordinated"}`)
}
