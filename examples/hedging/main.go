// Command hedging simulates clients that send second requests, and prints what a learned rule and the rules of other
// systems gain and cost.
//
//	go run ./examples/hedging                          print all tables
//	go run ./examples/hedging -table storm -seeds 20   print one table, with 20 seeds
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/requests"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "hedging:", err)
		os.Exit(1)
	}
}

// mostSeeds is the largest number of seeds.
const mostSeeds = 1000

func run(args []string, out, usage io.Writer) error {
	names := slices.Sorted(maps.Keys(requests.Tables))
	flags := flag.NewFlagSet("hedging", flag.ContinueOnError)
	flags.SetOutput(usage)
	name := flags.String("table", "all", "table to print: "+strings.Join(names, ", ")+", or all")
	seeds := flags.Int("seeds", 20, "number of seeds; the table percentile has one")
	// The constants of the library were chosen with the seeds 0 to 9.
	first := flags.Uint64("seed", 1000, "first seed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *seeds < 1 || *seeds > mostSeeds:
		return fmt.Errorf("-seeds is %d, want 1 to %d", *seeds, mostSeeds)
	case *name == "all":
	case requests.Tables[*name] == nil:
		return fmt.Errorf("-table is %q, want %s, or all", *name, strings.Join(names, ", "))
	default:
		names = []string{*name}
	}
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := requests.Tables[name](out, *seeds, *first); err != nil {
			return err
		}
	}
	return nil
}
