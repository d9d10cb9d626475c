// The output of `strata --version`. Constants, so that it needs neither files nor the service; a test compares them.

/** As in package.json. */
export const COMMAND_VERSION = '0.1.0';
/** As in openapi/stack.json. */
const API_VERSION = '1.10.2';

export const versionText = `strata ${COMMAND_VERSION} (API ${API_VERSION})`;
