package rules_test

import (
	"fmt"

	"github.com/straggler-go/straggler/restart/rules"
)

// How does an operator choose a policy in a flag or a file? The text names the policy and the fields that
// differ from its defaults. An error names the field, its value and its range.
func ExampleParse() {
	policy, err := rules.Parse("spark, quantile=0.75, min-runtime=1s")
	fmt.Printf("%+v %v\n", policy, err)
	fmt.Println(rules.Text(policy))

	_, err = rules.Parse("spark, quantile=75")
	fmt.Println(err)
	// Output:
	// {Quantile:0.75 Multiplier:0 MinRuntime:1s Duration:0s ExecutorSlots:0 SlowRate:0 LongRun:0} <nil>
	// spark,quantile=0.75,min-runtime=1s
	// restart/rules: Spark.Quantile is 75, want a share in (0, 1], or 0 for the default
}
