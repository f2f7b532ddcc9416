package main

// The whole of what the newcomer sees. Without a restart, task 3 would end after 400 s.
func Example() {
	main()
	// Output:
	// 10s  task 0  kept: too little is known of the time that it still needs, or that a new attempt takes
	//  10s  task 1  kept: too little is known of the time that it still needs, or that a new attempt takes
	//  10s  task 2  kept: too little is known of the time that it still needs, or that a new attempt takes
	//  10s  task 3  kept: too little is known of the time that it still needs, or that a new attempt takes
	//  40s  task 0  finished on machine 0
	//  40s  task 1  finished on machine 1
	//  40s  task 2  finished on machine 2
	//  40s  task 3  restarted: it still needs 360 s, and a new attempt takes 40 s; to let it run costs 540 s of slot time, and the cheapest change 60 s
	//  50s  task 4  kept: it is not slow enough; to let it run costs 45 s of slot time, and the cheapest change 80 s
	//  50s  task 5  kept: it is not slow enough; to let it run costs 45 s of slot time, and the cheapest change 80 s
	//  50s  task 6  kept: it is not slow enough; to let it run costs 45 s of slot time, and the cheapest change 80 s
	//  80s  task 4  finished on machine 0
	//  80s  task 5  finished on machine 1
	//  80s  task 6  finished on machine 2
	//  90s  task 3  kept: it is not slow enough; to let it run costs 120 s of slot time, and the cheapest change 160 s
	// 120s  task 3  finished on machine 0
}
