package assign

import (
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestDecisionsReadBack(t *testing.T) {
	wiretest.Through(t, Decision{})
	wiretest.Through(t, Decision{Reason: WindowOpen, Wait: 1})
	wiretest.Through(t, Decision{Reason: WindowOpen, Wait: Forever})
	wiretest.Through(t, Decision{Action: ReadShared, Reason: WindowOver, Input: 3, Clone: 2, KillRest: true})
	wiretest.Through(t, Decision{Action: Read, Reason: OwnOutput})
}

func TestConfigsReadBack(t *testing.T) {
	wiretest.Settings(t, WindowTableConfig{Bins: []int{5, 50}, Contention: .5, Keep: 100, Pairing: Coordinated},
		`{"bins":[5,50],"contention":0.5,"keep":100,"pairing":"coordinated"}`)
}
