// What @strata/feeds offers.
export {};
