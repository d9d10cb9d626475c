// What @strata/advisories offers: advisories in one form, and whether a seen product is affected by one.
export * from './advisory.ts';
