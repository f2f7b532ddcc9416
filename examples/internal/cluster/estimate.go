package cluster

import (
	machinerecord "github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart/tracker"
)

// machineSpeeds is what the phases learn together of how slow each machine is, by package estimate/machines.
type machineSpeeds struct{ record tracker.MachineRecord }

func newMachineSpeeds(s *sim) (*machineSpeeds, error) {
	if !s.c.LearnMachines {
		return &machineSpeeds{}, nil
	}
	record, err := machinerecord.New(machinerecord.Config{})
	return &machineSpeeds{record}, err
}
