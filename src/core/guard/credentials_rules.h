/* Tokens that can be told by a prefix that their issuer gave them: the table, with examples.
 *
 * A row is X(prefix, stop, body, min, max, weak, kind, finds, spares):
 *   prefix  what the token begins with; stop is the place in it of the first '_', '-' or '.', where the scan stops;
 *   body    the classes of the bytes behind it, min to max of them;
 *   weak    other things begin like it, too: the rest must look random;
 *   kind    what a finding is called;
 *   finds   a body that is a token's, drawn at random; spares: one that is none.
 * Bodies stand apart from their prefixes, so that nobody's scanner of source code takes an example for a lost key. The
 * examples are run by tests/unit/test_credentials_rules.c, and are in no binary but that.
 *
 * Prefixes are those that issuers, or the public rule sets that follow them, name. Lengths were not checked with each
 * issuer: where one is not fixed, min and max leave room. Rows are in the order of the byte before the joint, so that
 * they are found by it; of two prefixes that begin alike the longer comes first.
 */
#ifndef SPINE_CORE_CREDENTIALS_RULES_H
#define SPINE_CORE_CREDENTIALS_RULES_H

#define CREDENTIALS_RULES_UNDERSCORE(X) \
	X("fo1_", 3, CH_NAME, 40, 64, true, "fly_token", \
	  "Zqumpm08hsE8JNpjJOQGa2rb19FlY0mG1ylvuhfJXqI", \
	  "the-quick-brown-fox-jumps-over-the-lazyq") \
	X("lsv2_pt_", 4, CH_WORD, 40, 64, true, "langsmith_key", \
	  "u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8dKLzd_ocJ", \
	  "the_quick_brown_fox_jumps_over_the_lazyq") \
	X("lsv2_sk_", 4, CH_WORD, 40, 64, true, "langsmith_key", \
	  "2isAjIhKtJ0RlgLKOmxgJTeKdNnFRIBXuDL7DxtpYlSX", \
	  "the_quick_brown_fox_jumps_over_the_lazyq") \
	X("fm2_", 3, CH_ALNUM | CH_BASE64, 100, 1024, true, "fly_token", \
	  "FkM/R5Kjp1vRt+1fjORS/6ilI8ihN5KXSc7Tvo/hBKqFYY/kv5ZJr3J1TWDtkwtDDb+xHKas1VOqg6YYZYn9ZhyiA4" \
	  "uoRgnatmUdjAWt", \
	  "connectionconnectionconnectionconnectionconnectionconnectionconnectionconnectionconnection" \
	  "connection") \
	X("r8_", 2, CH_ALNUM, 37, 40, true, "replicate_token", \
	  "Oq9wMxEhh2FDEEtfjgVvVqE1SkHbn88HxjSI6bWH", \
	  "connectionconnectionconnectionconnect") \
	X("CLOJARS_", 7, CH_LOWER | CH_DIGIT, 60, 60, false, "clojars_token", \
	  "928b5b7a767c76fb008f86bebb2737f6a6f0fb23c6f5da2cec255404e4fb", \
	  "abc") \
	X("CCIPAT_", 6, CH_WORD, 40, 80, true, "circleci_token", \
	  "jJJibaZ_UPgHV7iB3m03nbqnsGpWLuqIA1id6Vw5DQL0", \
	  "the_quick_brown_fox_jumps_over_the_lazyq") \
	X("shpca_", 5, CH_ALNUM, 32, 64, true, "shopify_token", \
	  "5HA064GiIjHGb3CXlMaXZjljENUhJduRHHJE", \
	  "connectionconnectionconnectionco") \
	X("glsa_", 4, CH_WORD, 32, 64, true, "grafana_token", \
	  "YXg4JdpmrcXgGCJbW56eCuN_GMGmSrCGIZEG", \
	  "the_quick_brown_fox_jumps_over_t") \
	X("shppa_", 5, CH_ALNUM, 32, 64, true, "shopify_token", \
	  "8pSH4487q7J58m1CiAhzCueQpBenQtYh5Xj8", \
	  "connectionconnectionconnectionco") \
	X("sqa_", 3, CH_LOWER | CH_DIGIT, 40, 40, false, "sonar_token", \
	  "b484e73cf575dcad6ba2b0aee0ca923732881584", \
	  "abc") \
	X("bkua_", 4, CH_LOWER | CH_DIGIT, 40, 40, false, "buildkite_token", \
	  "d8c4fa2815d2802827283e0ad84173581569969e", \
	  "abc") \
	X("zpka_", 4, CH_WORD, 32, 64, true, "zuplo_key", \
	  "GRlrwZbqcabUGJ_mGEp7CgQ0PBQFI14z_GtS", \
	  "the_quick_brown_fox_jumps_over_t") \
	X("github_pat_", 6, CH_WORD, 22, 255, false, "github_token", \
	  "n_ovm14TUOizw_d1iaeOV4qBkd", \
	  "abc") \
	X("sb_secret_", 2, CH_NAME, 24, 64, true, "supabase_token", \
	  "kWKFLf6xuI5aHUQPFeNBTxaQWk8J", \
	  "the-quick-brown-fox-jump") \
	X("e2b_", 3, CH_LOWER | CH_DIGIT, 40, 40, true, "e2b_key", \
	  "6702824c1c099724caf4941d4072014b3ce107f8", \
	  "connectionconnectionconnectionconnection") \
	X("whsec_", 5, CH_ALNUM | CH_BASE64, 24, 128, true, "stripe_key", \
	  "a6ili8GjHEAD6/Wj9KfzjsQGMrb9", \
	  "connectionconnectionconn") \
	X("glc_", 3, CH_ALNUM | CH_BASE64, 40, 400, true, "grafana_token", \
	  "h+ImB+LK777pzNk8cL6j5IXAAjlsHUqJoUD/+Ydua+5Z", \
	  "connectionconnectionconnectionconnection") \
	X("figd_", 4, CH_NAME, 36, 64, true, "figma_token", \
	  "Ms1SWOpQaPRYpzbLGViYXjU2JgJngKtFI3OyV2dZ", \
	  "the-quick-brown-fox-jumps-over-the-l") \
	X("pscale_tkn_", 6, CH_NAME | CH_DOT, 32, 64, true, "planetscale_token", \
	  "Akg05rK_gqv81RKMGHZEM9YpvujA-C5Q52ry", \
	  "the-quick-brown-fox-jumps-over-t") \
	X("pscale_pw_", 6, CH_NAME | CH_DOT, 32, 64, true, "planetscale_token", \
	  "FlwRlOEVHzc0X0AWIRh-JUqBlIFXZ53Ncqe2", \
	  "the-quick-brown-fox-jumps-over-t") \
	X("pscale_oauth_", 6, CH_NAME | CH_DOT, 32, 64, true, "planetscale_token", \
	  "8_ajY75FnCttn6kfaqDeMqG3omjMyXHCabM6", \
	  "the-quick-brown-fox-jumps-over-t") \
	X("rdme_", 4, CH_LOWER | CH_DIGIT, 70, 70, true, "readme_key", \
	  "8a7f770d9106fd287db7f1adbc60926f6967e7893f57fd14c1604d115cea325a65e19c", \
	  "connectionconnectionconnectionconnectionconnectionconnectionconnection") \
	X("re_", 2, CH_WORD, 32, 40, true, "resend_key", \
	  "1xvCkgaf_rfwA94hJ9WnywX0t0ZBfdTEm", \
	  "the_quick_brown_fox_jumps_over_t") \
	X("hf_", 2, CH_ALNUM, 30, 40, true, "huggingface_token", \
	  "xI6CmuxV5EbOApZOXzcycDeZ6dqmVe5Mvx", \
	  "connectionconnectionconnection") \
	X("sk_live_", 2, CH_ALNUM, 16, 255, false, "stripe_key", \
	  "rv99NcqVTSu7rtaUWM6Z", \
	  "abc") \
	X("sk_test_", 2, CH_ALNUM, 16, 255, false, "stripe_key", \
	  "O88eb0ogET9D9XyYq6B0", \
	  "abc") \
	X("rk_live_", 2, CH_ALNUM, 16, 255, false, "stripe_key", \
	  "Fi7FlaZ7Vt0SXjMpu3uD", \
	  "abc") \
	X("rk_test_", 2, CH_ALNUM, 16, 255, false, "stripe_key", \
	  "xYYMfGmzWkpAePcEJIuk", \
	  "abc") \
	X("pcsk_", 4, CH_WORD, 50, 90, true, "pinecone_key", \
	  "Enomef_2mSJ5CMTIeg1ZTVnVv2fgKD0f6YYIgrCOX6Jhw7Hd11XzWL8MHpoKEzViXZya8c", \
	  "the_quick_brown_fox_jumps_over_the_lazy_dog_and_run") \
	X("gsk_", 3, CH_ALNUM, 40, 64, true, "groq_key", \
	  "B4geqNfngAFTCloiADN5RpVI2XQWhX1ssrKrxqVqmCpl", \
	  "connectionconnectionconnectionconnection") \
	X("spk_", 3, CH_NAME, 45, 64, true, "spine_key", \
	  "17_ppjs46LmuezqpGHoPZgPDcgaE40o1C6xc4sohdmM0Lm", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog-a") \
	X("sk_org_", 2, CH_WORD, 16, 255, true, "stripe_key", \
	  "7exG3lCMqXXQ8agOMTNw", \
	  "the_quick_brownq") \
	X("rk_prod_", 2, CH_ALNUM, 16, 255, true, "stripe_key", \
	  "ncxvjcnqcMUP6n0a0uAR", \
	  "connectionconnec") \
	X("sk_prod_", 2, CH_ALNUM, 16, 255, true, "stripe_key", \
	  "xlNtencYFJEeAgYzQJjO", \
	  "connectionconnec") \
	X("sk_", 2, CH_LOWER | CH_DIGIT, 48, 48, true, "elevenlabs_key", \
	  "1f1bd38f1f34920fbd01f40072e3cf347862554017cdf83f", \
	  "connectionconnectionconnectionconnectionconnecti") \
	X("duffel_live_", 6, CH_NAME, 43, 43, true, "duffel_token", \
	  "luYI0KN1gNT11cUzYZAa3u2olZU6uqbgsYlVvsSKuvi", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog") \
	X("duffel_test_", 6, CH_NAME, 43, 43, true, "duffel_token", \
	  "nX_zMqf9OgXluCZz8xBfZuXTptFyfePpX6N1NF2XV54", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog") \
	X("npm_", 3, CH_ALNUM, 36, 36, false, "npm_token", \
	  "lbaNFDpCWNX0D1lZEzgeiwBxfZCGGQccOif7", \
	  "abc") \
	X("lin_api_", 3, CH_ALNUM, 32, 64, true, "linear_token", \
	  "UuXUGfdWG5yP8Yib2eNUS0hmi4Fs9Z6YkRYU", \
	  "connectionconnectionconnectionco") \
	X("ntn_", 3, CH_ALNUM, 40, 64, true, "notion_token", \
	  "7oe1wNWqku5Nr50DjqG96EnLqNGpuxcmlzkO7rRu5ykY", \
	  "connectionconnectionconnectionconnection") \
	X("lin_oauth_", 3, CH_ALNUM, 32, 64, true, "linear_token", \
	  "YqhXHdO2x93CJHLS45gqIO2zVZxqyxKjxvWf", \
	  "connectionconnectionconnectionco") \
	X("gho_", 3, CH_WORD, 20, 255, false, "github_token", \
	  "ColNV9ds0HqtO9_3L7Q5uUaV", \
	  "abc") \
	X("doo_v1_", 3, CH_ALNUM, 40, 64, false, "digitalocean_token", \
	  "cojsNOBAGx5diFoNPcbdaKwtgHwIoALtLinxN1Ekia7Z", \
	  "abc") \
	X("shippo_live_", 6, CH_LOWER | CH_DIGIT, 40, 40, false, "shippo_key", \
	  "74e3248c801bef750110c57513064d6d59291f0c", \
	  "abc") \
	X("aio_", 3, CH_ALNUM, 28, 28, true, "adafruit_key", \
	  "2BV6DfVPClogqoPchv5V7S82qTdr", \
	  "connectionconnectionconnecti") \
	X("ghp_", 3, CH_WORD, 20, 255, false, "github_token", \
	  "OJRBRY6H_qsP795nf4Gakq5p", \
	  "abc") \
	X("dop_v1_", 3, CH_ALNUM, 40, 64, false, "digitalocean_token", \
	  "1Vm8kV6um4yvMpy62O6SQ1IEE1HSa2bB9UoK4tYnzNLe", \
	  "abc") \
	X("vcp_", 3, CH_ALNUM, 40, 64, true, "vercel_token", \
	  "NAsIrsD3mbLFecbVjafQ4gGnRfXBkg8QysD4FIS0Xzm41PB2qs353f2H", \
	  "connectionconnectionconnectionconnection") \
	X("sbp_", 3, CH_ALNUM, 40, 64, true, "supabase_token", \
	  "K6kjcbhgN7kwjSbbciSPOcSeVce2LWxm090I5Qe43W6T", \
	  "connectionconnectionconnectionconnection") \
	X("tfp_", 3, CH_NAME | CH_DOT, 40, 80, true, "typeform_token", \
	  "XnFAAoeelK9mqmALOR2HcSGKgVP8Kd0d3mS8gBlKv3az", \
	  "the-quick-brown-fox-jumps-over-the-lazyq") \
	X("nfp_", 3, CH_ALNUM, 36, 40, true, "netlify_token", \
	  "sWWdawFgFSY0l9FLw91GqK8ks0n8SoFkh8OXfFYS", \
	  "connectionconnectionconnectionconnec") \
	X("sqp_", 3, CH_LOWER | CH_DIGIT, 40, 40, false, "sonar_token", \
	  "3ab3cc2d0b698d5c7e41ba4ea5ee874ae7689447", \
	  "abc") \
	X("sgp_", 3, CH_WORD, 40, 64, true, "sourcegraph_token", \
	  "UuMHwkpu9mq_9Ugk9Qgmyj_jYtUtBrmgO6grn4yDcaz2", \
	  "the_quick_brown_fox_jumps_over_the_lazyq") \
	X("ghr_", 3, CH_WORD, 20, 255, false, "github_token", \
	  "YBSoG_OsDbjqMVzaVp62BSKL", \
	  "abc") \
	X("dor_v1_", 3, CH_ALNUM, 40, 64, false, "digitalocean_token", \
	  "VPA2oQUP44XPSL2oRlPhDBuqOSg5ApYzTTOkq2BEDbN2", \
	  "abc") \
	X("dckr_pat_", 4, CH_NAME, 24, 64, true, "docker_token", \
	  "0xPbX_neGBuzSm6A8cVR06AxYpTh", \
	  "the-quick-brown-fox-jump") \
	X("dckr_oat_", 4, CH_NAME, 24, 64, true, "docker_token", \
	  "GJWZhbj11THnCMZCY7Bvqiy8CsT0", \
	  "the-quick-brown-fox-jump") \
	X("ghs_", 3, CH_WORD, 20, 1024, false, "github_token", \
	  "DsWJPiX1EwY2orTyRq_BRlEa", \
	  "abc") \
	X("access_token$production$", 6, CH_LOWER | CH_DIGIT, 12, 24, true, "paypal_token", \
	  "uumrx47z68zqy9tf", \
	  "connectionco") \
	X("access_token$sandbox$", 6, CH_LOWER | CH_DIGIT, 12, 24, true, "paypal_token", \
	  "rgjixdn9d7bhirkv", \
	  "connectionco") \
	X("shpss_", 5, CH_ALNUM, 32, 64, true, "shopify_token", \
	  "ZUZrwpPtuEFBNOfQ5xj7t2ydf0K5uY8iH1wO", \
	  "connectionconnectionconnectionco") \
	X("sntrys_", 6, CH_NAME | CH_BASE64, 60, 400, true, "sentry_token", \
	  "LaQan8ePsqMgLj2olXCwYjn5zYIkN5SMYfQ55JYO1tmFSnHfV1CQ4hJhqAo0iEFJ", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog-and-runs-away-fr") \
	X("rubygems_", 8, CH_LOWER | CH_DIGIT, 48, 48, false, "rubygems_key", \
	  "1fe4f7f505aef9ebdd25b001a3ff416d4a3baf69dad8199b", \
	  "abc") \
	X("ops_eyJ", 3, CH_NAME | CH_BASE64, 200, 1024, true, "onepassword_token", \
	  "GeRzxWkdgeV6+iYplGODlYx5uVECweGThdgH9hmsOazM4n8PVGXpV9Wv4Esb7yeuCjVr5mXcj5RPD9oUsQChx5s4tI" \
	  "10FtdILQvH+nO69othB9KpGzU3HEEmXL1uhLsc4Rr4aKxU3f0BJxrxDwzkl/JwAryNzbi0hSQK/lb09rIFxUeuVaT5" \
	  "jpTFPWhLn/5drcFlCxvnNGdc", \
	  "connectionconnectionconnectionconnectionconnectionconnectionconnectionconnectionconnection" \
	  "connectionconnectionconnectionconnectionconnectionconnectionconnectionconnectionconnection" \
	  "connectionconnection") \
	X("cfut_", 4, CH_WORD, 36, 64, true, "cloudflare_token", \
	  "dRHUNL9yf4StfxDPNV2adCV1jFzYI20eBahcyXic", \
	  "the_quick_brown_fox_jumps_over_the_l") \
	X("shpat_", 5, CH_ALNUM, 32, 64, true, "shopify_token", \
	  "g7SVmqb1MOKDHpSCgw3gTlcrhDFLGWrhhhz4", \
	  "connectionconnectionconnectionco") \
	X("secret_", 6, CH_ALNUM, 43, 43, true, "notion_token", \
	  "iILo3ojQKDVzk80b8OySAM1MHcz8dXxvzp1vTB1KZ6u", \
	  "connectionconnectionconnectionconnectioncon") \
	X("ghu_", 3, CH_WORD, 20, 255, false, "github_token", \
	  "0z2JduHj9R7wp3BQOaxgHleu", \
	  "abc") \
	X("sntryu_", 6, CH_LOWER | CH_DIGIT, 64, 64, false, "sentry_token", \
	  "d6074dce1118813830d71939b53182e4e349d98729e7c6be9ff907a76cc0b57a", \
	  "abc") \
	X("pnu_", 3, CH_ALNUM, 36, 36, true, "prefect_key", \
	  "JuFrs4nsdXbkJeM3wCQdHy1CwVWgHo9RV7jA", \
	  "connectionconnectionconnectionconnec") \
	X("squ_", 3, CH_LOWER | CH_DIGIT, 40, 40, false, "sonar_token", \
	  "ab4683f84d30d3fc4d83cee9b9bcca0fce9594dc", \
	  "abc") \
	X("fw_", 2, CH_ALNUM, 22, 32, true, "fireworks_key", \
	  "6YOZq0M7qO60lI5QfecJUyGT", \
	  "connectionconnectionco") \
	X("phx_", 3, CH_ALNUM, 40, 64, true, "posthog_key", \
	  "Lof06vu1M1p9unB569abdqK5Ft6IXtINBH0HURByDwcM", \
	  "connectionconnectionconnectionconnection") \
	X("apify_api_", 5, CH_ALNUM, 32, 48, true, "apify_token", \
	  "elVEnIKXVuuEomFKB8KyVQ3JYmzSgnYNPPtP", \
	  "connectionconnectionconnectionco") \
	X("key_", 3, CH_LOWER | CH_DIGIT, 64, 64, true, "cursor_key", \
	  "aad6b68b75b48e99f73f289509dddc3ebffc5ccd8099ee02cab83bb43e451f9a", \
	  "connectionconnectionconnectionconnectionconnectionconnectionconn")

#define CREDENTIALS_RULES_DASH(X) \
	X("AGE-SECRET-KEY-1", 3, CH_UPPER | CH_DIGIT, 50, 64, false, "age_key", \
	  "W2AE7OG0X6Z9JM05Z2V7FKXUXET6LHSV60K7S6N6M0LDGWC0AAT9AT", \
	  "abc") \
	X("NRII-", 4, CH_NAME, 32, 32, true, "newrelic_key", \
	  "Ymbdzw-Isz0psundmjv_73hbPsETJveI", \
	  "the-quick-brown-fox-jumps-over-t") \
	X("NRAK-", 4, CH_UPPER | CH_DIGIT, 27, 27, false, "newrelic_key", \
	  "GEWM2YBDOZC2DPPOCKLUA3T0Q5E", \
	  "abc") \
	X("PMAK-", 4, CH_ALNUM | CH_DASH, 59, 59, true, "postman_key", \
	  "7c7d9cf07255bc509cb3acac-23db7c6e9b7d180a4742684ee75bb6cc69", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog-and-runs-away-f") \
	X("FLWSECK-", 7, CH_LOWER | CH_DIGIT, 32, 32, true, "flutterwave_key", \
	  "f67e48eb7c64328c0490c257a632b962", \
	  "connectionconnectionconnectionco") \
	X("NRJS-", 4, CH_LOWER | CH_DIGIT, 19, 19, true, "newrelic_key", \
	  "92794c9bce4850bbd0e", \
	  "connectionconnectio") \
	X("CFPAT-", 5, CH_NAME, 43, 43, true, "contentful_token", \
	  "FZTmxLoICfZfu3zMtWfNwD-G3SaoKfgFoeOASl1YCJl", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog") \
	X("HRKU-", 4, CH_NAME, 36, 80, true, "heroku_key", \
	  "S24R5gA2q_yfHwuEHFhvTS0lzNrr_9EEa4rSMrsE", \
	  "the-quick-brown-fox-jumps-over-the-l") \
	X("GOCSPX-", 6, CH_NAME, 24, 40, false, "gcp_oauth_secret", \
	  "Qp2vt7ZAoLbU_AfhJMzoN5ouP47U", \
	  "abc") \
	X("xoxa-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token", \
	  "skJecaDWFfVTvVKqgPF9", \
	  "abc") \
	X("xoxb-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token", \
	  "BFmYIuaw6fPsON7UPSqP", \
	  "abc") \
	X("xkeysib-", 7, CH_LOWER | CH_DIGIT, 64, 64, false, "brevo_key", \
	  "72400c49b5539ac5ba7b4b87113c16fdf5924754ec21ef66b01d4921da2e055c", \
	  "abc") \
	X("xoxc-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token", \
	  "saCZKRwKmEfIuHDBI6O3", \
	  "abc") \
	X("fc-", 2, CH_LOWER | CH_DIGIT, 32, 32, true, "firecrawl_key", \
	  "b2845ad0f3d761f3d0201bfe8c26b715", \
	  "connectionconnectionconnectionco") \
	X("xoxd-", 4, CH_ALNUM | CH_DASH, 16, 255, true, "slack_token", \
	  "jz9MNfZZdURvMQtKKA8x", \
	  "the-quick-brownq") \
	X("xoxe-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token", \
	  "EQPit3vH4Ob2moRVCSfj", \
	  "abc") \
	X("pypi-AgEI", 4, CH_NAME, 40, 512, false, "pypi_token", \
	  "V1UE4YHoDxzoCGmyG_D6Cok0j4ron6Yvy8lrVhZEgVfb", \
	  "abc") \
	X("xai-", 3, CH_ALNUM, 60, 100, true, "xai_key", \
	  "SM9nDthTiB64fN3mKh6U3wkxV1vZWVRa0qhpxGVH8wUFc0MwgwJuZMhc76RpqwmS", \
	  "connectionconnectionconnectionconnectionconnectionconnection") \
	X("nvapi-", 5, CH_NAME, 40, 80, true, "nvidia_key", \
	  "5c4oc_ojHxtLWsGI4bdRt_9eejxY8u5YDjUQBNqfBvU7", \
	  "the-quick-brown-fox-jumps-over-the-lazyq") \
	X("sk-ant-", 2, CH_NAME, 16, 255, false, "anthropic_key", \
	  "Q7XTOaQ9QDcF6fssIXIi", \
	  "abc") \
	X("sk-proj-", 2, CH_NAME, 16, 255, false, "openai_key", \
	  "HTremz2mUKEsjMRUFSZQ", \
	  "abc") \
	X("sk-svcacct-", 2, CH_NAME, 16, 255, false, "openai_key", \
	  "hRP9VFEStrAa6Z5YMvis", \
	  "abc") \
	X("sk-admin-", 2, CH_NAME, 16, 255, true, "openai_key", \
	  "MNGRjykwMT7T2i_OwJGc", \
	  "the-quick-brownq") \
	X("sk-or-v1-", 2, CH_ALNUM, 32, 128, false, "openrouter_key", \
	  "WkOrpTbndzCm5Ms3GPgmpUd9iMdfeZ04KvUi", \
	  "abc") \
	X("sk-", 2, CH_NAME, 20, 255, true, "openai_key", \
	  "ayIbPdBPPd_ZRwh1flQ-ZG7b", \
	  "the-quick-brown-foxq") \
	X("bedrock-api-key-", 7, CH_ALNUM | CH_BASE64, 40, 1024, true, "aws_bedrock_key", \
	  "dOOh1QulctAslTU2StQDH9eN6JUJqGb8mUtDZldrphAx", \
	  "connectionconnectionconnectionconnection") \
	X("pul-", 3, CH_LOWER | CH_DIGIT, 40, 40, true, "pulumi_token", \
	  "8b4550b7ef6bce6a0302cb17cdc70808d77b6ad8", \
	  "connectionconnectionconnectionconnection") \
	X("fio-u-", 3, CH_NAME, 64, 64, true, "frameio_token", \
	  "M-Bu9IrMKlQa_FuO5BgAUf4x3rMdotbrMtTmv7Yl1RYQeEzberD3ncgOiop_r2aw", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog-and-runs-away-from-t") \
	X("ico-", 3, CH_ALNUM, 32, 32, true, "infracost_key", \
	  "oRIjOVIGhHw1F96ewn294oUerTlaqre9", \
	  "connectionconnectionconnectionco") \
	X("xoxp-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token", \
	  "cmGdAYJ8xrauScPDIsJv", \
	  "abc") \
	X("xapp-", 4, CH_ALNUM | CH_DASH, 32, 255, true, "slack_token", \
	  "SA3VTrzBuIAyjyWy4AZj5OapMG7qSNUyp0mQ", \
	  "the-quick-brown-fox-jumps-over-t") \
	X("sq0atp-", 6, CH_NAME, 22, 64, true, "square_token", \
	  "olegZP4O6a88RWEWTiYIPjCHH8", \
	  "the-quick-brown-fox-ju") \
	X("sq0csp-", 6, CH_NAME, 40, 64, true, "square_token", \
	  "S9CsiUAvUEwt6wfPWU2p0tGWnUTM5lJYL5o59wtaqU_E", \
	  "the-quick-brown-fox-jumps-over-the-lazyq") \
	X("xoxr-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token", \
	  "NxHvZyqbJmaKqdLltTIr", \
	  "abc") \
	X("xoxs-", 4, CH_ALNUM | CH_DASH, 16, 255, false, "slack_token", \
	  "6uqpq1CfHOF2fmiB9YsN", \
	  "abc") \
	X("gloas-", 5, CH_NAME, 64, 64, true, "gitlab_token", \
	  "Vf4WUfL03GTEXqyViAQjk5WY1-dn77318wi4Y_rbDzZfLQX6plCjbn-lB6hzQ9h1", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog-and-runs-away-from-t") \
	X("access-production-", 6, CH_ALNUM | CH_DASH, 36, 36, true, "plaid_token", \
	  "4d14aa60-5882-ac89-cd19-97cd896416be", \
	  "the-quick-brown-fox-jumps-over-the-l") \
	X("access-sandbox-", 6, CH_ALNUM | CH_DASH, 36, 36, true, "plaid_token", \
	  "f4ba6e1a-02da-187e-966e-ce6615d3142f", \
	  "the-quick-brown-fox-jumps-over-the-l") \
	X("pat-na1-", 3, CH_ALNUM | CH_DASH, 36, 36, true, "hubspot_token", \
	  "568b9126-bef7-3fec-de3b-53f79a8afba7", \
	  "the-quick-brown-fox-jumps-over-the-l") \
	X("pat-na2-", 3, CH_ALNUM | CH_DASH, 36, 36, true, "hubspot_token", \
	  "01070d26-d7f7-9a73-aff5-cfd4501150bf", \
	  "the-quick-brown-fox-jumps-over-the-l") \
	X("pat-eu1-", 3, CH_ALNUM | CH_DASH, 36, 36, true, "hubspot_token", \
	  "8e28d3e1-4be5-3589-3b80-598e7d8a50f5", \
	  "the-quick-brown-fox-jumps-over-the-l") \
	X("glpat-", 5, CH_NAME | CH_DOT, 20, 255, false, "gitlab_token", \
	  "xbv-CLBusAm7mzlg1CG42thr", \
	  "abc") \
	X("gldt-", 4, CH_NAME, 20, 64, true, "gitlab_token", \
	  "fu5LDOtNHPBtDYePWtLClz7t", \
	  "the-quick-brown-foxq") \
	X("glrt-", 4, CH_NAME, 20, 64, true, "gitlab_token", \
	  "x3QZoeTpAjL_Sc-lz_JMlzr8", \
	  "the-quick-brown-foxq") \
	X("glptt-", 5, CH_NAME, 20, 64, true, "gitlab_token", \
	  "IDMemaSytMgwQS59FQUwoMi6", \
	  "the-quick-brown-foxq") \
	X("glcbt-", 5, CH_NAME, 20, 64, true, "gitlab_token", \
	  "mouY7eefm0q1TjVuUvlQa9Mt", \
	  "the-quick-brown-foxq") \
	X("glsoat-", 6, CH_NAME, 20, 64, true, "gitlab_token", \
	  "HmnEot-IpP7FufGUzKZAqEEm", \
	  "the-quick-brown-foxq") \
	X("glft-", 4, CH_NAME, 20, 64, true, "gitlab_token", \
	  "bng_ADlvtHd2YoLpkBDFhFjR", \
	  "the-quick-brown-foxq") \
	X("glimt-", 5, CH_NAME, 20, 64, true, "gitlab_token", \
	  "mfBwMRk7xbO00elFsvtSrAzC", \
	  "the-quick-brown-foxq") \
	X("glagent-", 7, CH_NAME, 50, 64, true, "gitlab_token", \
	  "Qia9e-QiizgU0lSu--rHMg7v3XMoiGDEz6E-gYYRWZlDR2NaM_co81", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog-and-ru") \
	X("glffct-", 6, CH_NAME, 20, 64, true, "gitlab_token", \
	  "0M6sQBkTY7eLQlIx40EpBfWx", \
	  "the-quick-brown-foxq") \
	X("pplx-", 4, CH_ALNUM, 40, 64, true, "perplexity_key", \
	  "yrv9jxkow40N459ztFu94GYMm219kzHaa2lg8pDKZQqV", \
	  "connectionconnectionconnectionconnection") \
	X("tskey-", 5, CH_ALNUM | CH_DASH, 24, 80, true, "tailscale_key", \
	  "wRgJV3WGQyi7W5qQAeGNvCr9sxtQ", \
	  "the-quick-brown-fox-jump") \
	X("tvly-", 4, CH_NAME, 28, 64, true, "tavily_key", \
	  "Wh--UchpW5Nt6eP9raIsyfYwJELd10kW", \
	  "the-quick-brown-fox-jumps-ov") \
	X("key-", 3, CH_LOWER | CH_DIGIT, 32, 32, true, "mailgun_key", \
	  "10dc6c4393a96e78c3403049d3e8474f", \
	  "connectionconnectionconnectionco")

#define CREDENTIALS_RULES_DOT(X) \
	X("atlasv1.", 7, CH_NAME, 60, 80, true, "terraform_token", \
	  "0oNvwpZYRZY-RSxs0KrBRi0iaE3ZBJqtCEpKeWKqXJiIBCNmUkUcjpPBa6r5Jh5e", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog-and-runs-away-fr") \
	X("dt0c01.", 6, CH_UPPER | CH_DIGIT, 24, 24, true, "dynatrace_token", \
	  "C83H4OSVV7ON9NS8BOLB6R1X", \
	  "CONNECTIONCONNECTIONCONN") \
	X("v1.0-", 2, CH_LOWER | CH_DIGIT | CH_DASH, 160, 180, true, "cloudflare_key", \
	  "2a7dccc06616cd334b459e42-220d8c947e0dedc8b137913993ed6da209da99098b260ff3ac1c97570cf1dcb92" \
	  "107c907cbeac0ddd60132f96aa87e5a4bb15d4dcc513d4654c340b67c01ffff3195f80135f3b92c07", \
	  "connectionconnectionconnectionconnectionconnectionconnectionconnectionconnectionconnection" \
	  "connectionconnectionconnectionconnectionconnectionconnectionconnection") \
	X("ya29.", 4, CH_NAME, 30, 512, true, "gcp_oauth_token", \
	  "iJloZX0ChVQGj9r366yRyoZvKyjc4zzHzL", \
	  "the-quick-brown-fox-jumps-over") \
	X("SG.", 2, CH_NAME | CH_DOT, 40, 128, true, "sendgrid_key", \
	  "cciTA1bHTuOTNnfwT1d6nRntU8_kRO8qnGXATGcyJ3Xu", \
	  "the-quick-brown-fox-jumps-over-the-lazyq") \
	X("AQ.Ab8", 2, CH_NAME, 40, 80, true, "gcp_api_key", \
	  "iehEwLhqqA8FutShQVR3DC9Phj1ctgabuDAfICpKptRCGBug", \
	  "the-quick-brown-fox-jumps-over-the-lazyq") \
	X("hvb.", 3, CH_NAME, 24, 256, true, "vault_token", \
	  "3rrboBWdbl7fAjPR7_AaFATWnmqz", \
	  "the-quick-brown-fox-jump") \
	X("sk.eyJ", 2, CH_NAME | CH_DOT, 60, 400, true, "mapbox_token", \
	  "464ig8vZE88sp-WiEDaYCeFmzae7gZECf0Hft7c9nmxsuPnWajdkjgL6YaAdx6Ap", \
	  "the-quick-brown-fox-jumps-over-the-lazy-dog-and-runs-away-fr") \
	X("sl.", 2, CH_NAME | CH_DOT, 100, 1200, true, "dropbox_token", \
	  "u.AH6cVJjkl8iJFHRnKf9k3wmlu4MtdBcyxx9lgR71LKJoXXOc7SxBYmZvexu6QdcNW3aclJ4wcd3FkyOt9PO5kgqU" \
	  "Fe6qEPJZjRc2DyGUQg6nEe62Dl4E7vIrxiMCzFHCRQ44IHJ5lByNt", \
	  "connectionconnectionconnectionconnectionconnection-connectionconnectionconnectionconnectio" \
	  "nconnectionconnection") \
	X("dp.pt.", 2, CH_ALNUM, 40, 64, true, "doppler_token", \
	  "TPVnQBhNfIHwRgfUp242gfxrttWsjFMKvXmafechRSXM", \
	  "connectionconnectionconnectionconnection") \
	X("dp.st.", 2, CH_NAME | CH_DOT, 40, 80, true, "doppler_token", \
	  "BX60Akchdr3hxL4GrGMSdPWmu4u8PJFb0cRDTQaERkun", \
	  "the-quick-brown-fox-jumps-over-the-lazyq") \
	X("dp.ct.", 2, CH_ALNUM, 40, 64, true, "doppler_token", \
	  "c02uBOvxeIh9DknHdPQIp86A76HSX9OfPnnsW64aTqBT", \
	  "connectionconnectionconnectionconnection") \
	X("hvr.", 3, CH_NAME, 24, 256, true, "vault_token", \
	  "J5wmGMY0w4m6RPAdXCnASQJbyjlu", \
	  "the-quick-brown-fox-jump") \
	X("hvs.", 3, CH_NAME, 24, 256, true, "vault_token", \
	  "NHxfs9mhXGlChiLbIqTUwrVGVUvo", \
	  "the-quick-brown-fox-jump") \
	X("s.", 1, CH_ALNUM, 24, 24, true, "vault_token", \
	  "5TPiKEuor5ClFKHu6MUbgXOs", \
	  "connectionconnectionconn")

#endif
