package tracker_test

import "time"

// start is an arbitrary instant: the package reads no clock.
var start = time.Unix(0, 0)

const minute = time.Minute

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
