// What @strata/analytics offers.
export {};
