// The initial domains of an empty store in real mode: well-known domains of many kinds and countries.
export const wellKnownDomains: readonly string[] = `
adobe.com airbnb.com akamai.com alibaba.com amazon.com apple.com asus.com atlassian.com auth0.com baidu.com
bbc.co.uk bing.com bloomberg.com booking.com canva.com cern.ch cisco.com cloudflare.com cnn.com coursera.org
debian.org dell.com digitalocean.com discord.com docker.com dropbox.com duckduckgo.com ebay.com economist.com elastic.co
etsy.com europa.eu facebook.com fastly.com figma.com ft.com gandi.net github.com gitlab.com gnu.org
google.com grafana.com harvard.edu hashicorp.com heise.de hetzner.com hp.com hubspot.com ibm.com ietf.org
ikea.com imdb.com intel.com intuit.com kernel.org khanacademy.org lemonde.fr linkedin.com linode.com mailchimp.com
mastercard.com microsoft.com mit.edu mongodb.com mozilla.org mysql.com namecheap.com nasa.gov nature.com netflix.com
netlify.com nginx.org nike.com nodejs.org notion.so npmjs.com nvidia.com nytimes.com okta.com openssl.org
oracle.com ovhcloud.com paypal.com pinterest.com postgresql.org proton.me python.org qualcomm.com redhat.com reddit.com
reuters.com rust-lang.org salesforce.com samsung.com sap.com shopify.com siemens.com slack.com sony.com spiegel.de
spotify.com sqlite.org squarespace.com stackoverflow.com stanford.edu stripe.com theguardian.com toyota.com twilio.com ubuntu.com
uber.com un.org unesco.org vercel.com visa.com vodafone.com w3.org who.int wikipedia.org wordpress.com
wsj.com x.com yahoo.com yale.edu yandex.ru youtube.com zalando.de zendesk.com zoho.com zoom.us
`
  .trim()
  .split(/\s+/);
