// Every provider entry, unchecked; `loadCatalog` of @strata/detect validates them.
import addressRanges from './address-ranges.json' with { type: 'json' };
import cdn from './cdn.json' with { type: 'json' };
import certificateAuthorities from './certificate-authorities.json' with { type: 'json' };
import clouds from './clouds.json' with { type: 'json' };
import dmarc from './dmarc.json' with { type: 'json' };
import dns from './dns.json' with { type: 'json' };
import email from './email.json' with { type: 'json' };
import forwarding from './forwarding.json' with { type: 'json' };
import gateways from './gateways.json' with { type: 'json' };
import hosting from './hosting.json' with { type: 'json' };
import networkOperators from './network-operators.json' with { type: 'json' };
import parking from './parking.json' with { type: 'json' };
import platforms from './platforms.json' with { type: 'json' };
import registrarsAfricaMiddleEast from './registrars-africa-middle-east.json' with { type: 'json' };
import registrarsAmericas from './registrars-americas.json' with { type: 'json' };
import registrarsAsiaPacific from './registrars-asia-pacific.json' with { type: 'json' };
import registrarsCorporate from './registrars-corporate.json' with { type: 'json' };
import registrarsEuropeEast from './registrars-europe-east.json' with { type: 'json' };
import registrarsEuropeNorth from './registrars-europe-north.json' with { type: 'json' };
import registrarsEuropeSouth from './registrars-europe-south.json' with { type: 'json' };
import registrarsEuropeWest from './registrars-europe-west.json' with { type: 'json' };
import senders from './senders.json' with { type: 'json' };
import sendersBusiness from './senders-business.json' with { type: 'json' };
import siteAdvertising from './site-advertising.json' with { type: 'json' };
import siteAnalytics from './site-analytics.json' with { type: 'json' };
import siteCommerce from './site-commerce.json' with { type: 'json' };
import siteMedia from './site-media.json' with { type: 'json' };
import siteServices from './site-services.json' with { type: 'json' };
import siteTools from './site-tools.json' with { type: 'json' };
import verification from './verification.json' with { type: 'json' };
import verificationBusiness from './verification-business.json' with { type: 'json' };
import verificationDeveloper from './verification-developer.json' with { type: 'json' };
import verificationSecurity from './verification-security.json' with { type: 'json' };
import waf from './waf.json' with { type: 'json' };
import webSoftware from './web-software.json' with { type: 'json' };

export const entries: readonly unknown[] = [
  ...cdn,
  ...certificateAuthorities,
  ...clouds,
  ...dmarc,
  ...dns,
  ...email,
  ...forwarding,
  ...gateways,
  ...hosting,
  ...networkOperators,
  ...parking,
  ...platforms,
  ...registrarsAfricaMiddleEast,
  ...registrarsAmericas,
  ...registrarsAsiaPacific,
  ...registrarsCorporate,
  ...registrarsEuropeEast,
  ...registrarsEuropeNorth,
  ...registrarsEuropeSouth,
  ...registrarsEuropeWest,
  ...senders,
  ...sendersBusiness,
  ...siteAdvertising,
  ...siteAnalytics,
  ...siteCommerce,
  ...siteMedia,
  ...siteServices,
  ...siteTools,
  ...verification,
  ...verificationBusiness,
  ...verificationDeveloper,
  ...verificationSecurity,
  ...waf,
  ...webSoftware,
];

/**
 * The meaning of the tags of published address ranges, unchecked; `loadAddressRanges` of @strata/detect validates them.
 */
export const rangeMeanings: readonly unknown[] = addressRanges;
