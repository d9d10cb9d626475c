// Every provider entry, unchecked; `loadCatalog` of @strata/detect validates them.
export const entries: readonly unknown[] = [];
