package gate_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare/gate"
)

// Does a task fit on a machine? The disks of the machine have 100 free bytes, and other tasks will write 30 bytes.
// The gate keeps 10 bytes free, so a task may write 60 bytes.
func ExampleGate_Room() {
	g, err := gate.New(gate.Config{Memory: 1000, DiskReserve: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	machine := gate.Machine{Memory: 700, DiskFree: 100, DiskOwed: 30}
	fmt.Println(g.Room(machine, 300, 60))
	fmt.Println(g.Room(machine, 300, 61))
	fmt.Println(g.Room(machine, 301, 60))
	// Output:
	// admit below-limits have=0 limit=0
	// wait disk-full have=61 limit=60
	// wait memory-full have=700 limit=1000
}
