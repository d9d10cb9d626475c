// What `strata --version` prints. Constants, so that it needs neither files nor the service; a test compares them.

/** Of this command, as in its package.json. */
export const COMMAND_VERSION = '0.1.0';
/** Of the interface that the service offers, as in its OpenAPI document. */
const API_VERSION = '1.10.2';

export const versionText = `strata ${COMMAND_VERSION} (API ${API_VERSION})`;
