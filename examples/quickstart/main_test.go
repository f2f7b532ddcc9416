package main

// The whole of what the newcomer sees. Without a restart, task 3 would end after 400 s.
func Example() {
	main()
	// Output:
	//  10s  task 0  keep no-estimate remaining=30s fresh=?
	//  10s  task 1  keep no-estimate remaining=30s fresh=?
	//  10s  task 2  keep no-estimate remaining=30s fresh=?
	//  10s  task 3  keep no-estimate remaining=390s fresh=?
	//  40s  task 0  finished on machine 0
	//  40s  task 1  finished on machine 1
	//  40s  task 2  finished on machine 2
	//  40s  task 3  restart fresh-sooner copy=0 remaining=360s fresh=40s value=540 threshold=60 gain=320s avoid=3
	//  50s  task 4  keep not-slow remaining=30s fresh=40s value=45 threshold=80
	//  50s  task 5  keep not-slow remaining=30s fresh=40s value=45 threshold=80
	//  50s  task 6  keep not-slow remaining=30s fresh=40s value=45 threshold=80
	//  80s  task 4  finished on machine 0
	//  80s  task 5  finished on machine 1
	//  80s  task 6  finished on machine 2
	//  90s  task 3  keep not-slow remaining=30s fresh=40s value=90 threshold=130
	// 120s  task 3  finished on machine 0
}
