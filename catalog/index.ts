// Every provider entry, unchecked; `loadCatalog` of @strata/detect validates them.
import cdn from './cdn.json' with { type: 'json' };
import certificateAuthorities from './certificate-authorities.json' with { type: 'json' };
import dmarc from './dmarc.json' with { type: 'json' };
import dns from './dns.json' with { type: 'json' };
import email from './email.json' with { type: 'json' };
import gateways from './gateways.json' with { type: 'json' };
import hosting from './hosting.json' with { type: 'json' };
import platforms from './platforms.json' with { type: 'json' };
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
import webSoftware from './web-software.json' with { type: 'json' };

export const entries: readonly unknown[] = [
  ...cdn,
  ...certificateAuthorities,
  ...dmarc,
  ...dns,
  ...email,
  ...gateways,
  ...hosting,
  ...platforms,
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
  ...webSoftware,
];
