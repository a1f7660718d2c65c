--
-- PostgreSQL database dump
--

\restrict ad0XPrVPcVpZJtQytUJCCbkCoqE6rXUPctJb4LaVVeFEEbyoTSiNDoNYsiRcgpd

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: alembic_version; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);


ALTER TABLE public.alembic_version OWNER TO stoker;

--
-- Name: announcements; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.announcements (
    sequence bigint NOT NULL,
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    engine character varying(36) NOT NULL,
    kind character varying(32) NOT NULL,
    body text NOT NULL,
    created_at double precision NOT NULL
);


ALTER TABLE public.announcements OWNER TO stoker;

--
-- Name: announcements_sequence_seq; Type: SEQUENCE; Schema: public; Owner: stoker
--

CREATE SEQUENCE public.announcements_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.announcements_sequence_seq OWNER TO stoker;

--
-- Name: announcements_sequence_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: stoker
--

ALTER SEQUENCE public.announcements_sequence_seq OWNED BY public.announcements.sequence;


--
-- Name: change_sets; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.change_sets (
    id character varying(36) NOT NULL,
    project_id character varying(64) NOT NULL,
    name character varying(128) NOT NULL,
    kind character varying(32) NOT NULL,
    stack_id character varying(36) NOT NULL,
    stack_name character varying(255) NOT NULL,
    description text NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    base character varying(36),
    operation character varying(36),
    body text NOT NULL,
    created_at double precision NOT NULL
);


ALTER TABLE public.change_sets OWNER TO stoker;

--
-- Name: document_parts; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.document_parts (
    whole character varying(64) NOT NULL,
    part character varying(64) NOT NULL
);


ALTER TABLE public.document_parts OWNER TO stoker;

--
-- Name: documents; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.documents (
    digest character varying(64) NOT NULL,
    body text NOT NULL
);


ALTER TABLE public.documents OWNER TO stoker;

--
-- Name: drift_detections; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.drift_detections (
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    project_id character varying(64) NOT NULL,
    engine character varying(36) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    body text NOT NULL,
    created_at double precision NOT NULL
);


ALTER TABLE public.drift_detections OWNER TO stoker;

--
-- Name: engines; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.engines (
    id character varying(36) NOT NULL,
    host character varying(255) NOT NULL,
    process integer NOT NULL,
    version character varying(32) NOT NULL,
    started_at double precision NOT NULL,
    seen_at double precision NOT NULL,
    lease double precision NOT NULL,
    stopped_at double precision
);


ALTER TABLE public.engines OWNER TO stoker;

--
-- Name: events; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.events (
    sequence bigint NOT NULL,
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    resource_name character varying(255) NOT NULL,
    resource_type character varying(255) NOT NULL,
    physical_id character varying(255),
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    properties character varying(36),
    "time" double precision NOT NULL
);


ALTER TABLE public.events OWNER TO stoker;

--
-- Name: events_sequence_seq; Type: SEQUENCE; Schema: public; Owner: stoker
--

CREATE SEQUENCE public.events_sequence_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.events_sequence_seq OWNER TO stoker;

--
-- Name: events_sequence_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: stoker
--

ALTER SEQUENCE public.events_sequence_seq OWNED BY public.events.sequence;


--
-- Name: exports; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.exports (
    project_id character varying(64) NOT NULL,
    name character varying(255) NOT NULL,
    stack_id character varying(36) NOT NULL,
    value text NOT NULL
);


ALTER TABLE public.exports OWNER TO stoker;

--
-- Name: imports; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.imports (
    stack_id character varying(36) NOT NULL,
    name character varying(255) NOT NULL,
    project_id character varying(64) NOT NULL
);


ALTER TABLE public.imports OWNER TO stoker;

--
-- Name: inputs; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.inputs (
    id character varying(36) NOT NULL,
    template character varying(64) NOT NULL,
    environment character varying(64) NOT NULL,
    files character varying(64) NOT NULL,
    parameters text NOT NULL
);


ALTER TABLE public.inputs OWNER TO stoker;

--
-- Name: operations; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.operations (
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    parent_operation character varying(36),
    parent_resource character varying(36),
    round integer NOT NULL,
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    inputs character varying(36) NOT NULL,
    former_inputs character varying(36),
    observe boolean NOT NULL,
    request_id character varying(64),
    user_id character varying(64),
    user_name character varying(255),
    created_at double precision NOT NULL,
    started_at double precision,
    finished_at double precision,
    deadline double precision,
    owner character varying(36),
    epoch integer NOT NULL,
    plan text,
    snapshot character varying(36)
);


ALTER TABLE public.operations OWNER TO stoker;

--
-- Name: property_sets; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.property_sets (
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    body text NOT NULL
);


ALTER TABLE public.property_sets OWNER TO stoker;

--
-- Name: request_tokens; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.request_tokens (
    project_id character varying(64) NOT NULL,
    token character varying(128) NOT NULL,
    digest character varying(64) NOT NULL,
    answer text,
    created_at double precision NOT NULL
);


ALTER TABLE public.request_tokens OWNER TO stoker;

--
-- Name: resources; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.resources (
    uuid character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    "position" integer NOT NULL,
    name character varying(255) NOT NULL,
    type character varying(255) NOT NULL,
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    physical_id character varying(255),
    fingerprint character varying(64) NOT NULL,
    requires text NOT NULL,
    replaced_by character varying(36),
    properties character varying(36),
    former_properties character varying(36),
    state text,
    created_at double precision NOT NULL,
    updated_at double precision,
    started_at double precision
);


ALTER TABLE public.resources OWNER TO stoker;

--
-- Name: sealing_keys; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.sealing_keys (
    id character varying(64) NOT NULL,
    proof text NOT NULL
);


ALTER TABLE public.sealing_keys OWNER TO stoker;

--
-- Name: snapshots; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.snapshots (
    id character varying(36) NOT NULL,
    stack_id character varying(36) NOT NULL,
    name character varying(255),
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    inputs character varying(36) NOT NULL,
    body text,
    created_at double precision NOT NULL
);


ALTER TABLE public.snapshots OWNER TO stoker;

--
-- Name: software_configs; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.software_configs (
    id character varying(36) NOT NULL,
    project_id character varying(64) NOT NULL,
    name character varying(255) NOT NULL,
    "group" character varying(255) NOT NULL,
    body text NOT NULL,
    created_at double precision NOT NULL
);


ALTER TABLE public.software_configs OWNER TO stoker;

--
-- Name: software_deployments; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.software_deployments (
    id character varying(36) NOT NULL,
    project_id character varying(64) NOT NULL,
    server_id character varying(255) NOT NULL,
    config_id character varying(36) NOT NULL,
    stack_user_project_id character varying(64),
    action character varying(255),
    status character varying(255),
    status_reason text,
    body text NOT NULL,
    created_at double precision NOT NULL,
    updated_at double precision
);


ALTER TABLE public.software_deployments OWNER TO stoker;

--
-- Name: stack_documents; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.stack_documents (
    stack_id character varying(36) NOT NULL,
    body text NOT NULL
);


ALTER TABLE public.stack_documents OWNER TO stoker;

--
-- Name: stack_settings; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.stack_settings (
    stack_id character varying(36) NOT NULL,
    protected boolean NOT NULL,
    policy text,
    notification_topics text NOT NULL,
    capabilities text NOT NULL
);


ALTER TABLE public.stack_settings OWNER TO stoker;

--
-- Name: stack_tags; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.stack_tags (
    stack_id character varying(36) NOT NULL,
    "position" integer NOT NULL,
    tag character varying(80) NOT NULL
);


ALTER TABLE public.stack_tags OWNER TO stoker;

--
-- Name: stacks; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.stacks (
    id character varying(36) NOT NULL,
    name character varying(255) NOT NULL,
    live_name character varying(255),
    project_id character varying(64) NOT NULL,
    user_id character varying(64),
    user_name character varying(255),
    parent_id character varying(36),
    parent_resource character varying(36),
    root_id character varying(36) NOT NULL,
    depth integer NOT NULL,
    action character varying(32) NOT NULL,
    status character varying(32) NOT NULL,
    reason text NOT NULL,
    description text NOT NULL,
    created_at double precision NOT NULL,
    updated_at double precision,
    deleted_at double precision,
    timeout_minutes integer,
    disable_rollback boolean NOT NULL,
    inputs character varying(36) NOT NULL,
    good_inputs character varying(36),
    operation character varying(36),
    credential character varying(255),
    user_project_id character varying(64),
    strayed boolean NOT NULL
);


ALTER TABLE public.stacks OWNER TO stoker;

--
-- Name: trusts; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.trusts (
    credential character varying(255) NOT NULL,
    user_id character varying(64) NOT NULL,
    project_id character varying(64) NOT NULL,
    roles text NOT NULL,
    given_up boolean NOT NULL
);


ALTER TABLE public.trusts OWNER TO stoker;

--
-- Name: writers; Type: TABLE; Schema: public; Owner: stoker
--

CREATE TABLE public.writers (
    id character varying(36) NOT NULL,
    groups bigint NOT NULL,
    "time" double precision NOT NULL
);


ALTER TABLE public.writers OWNER TO stoker;

--
-- Name: announcements sequence; Type: DEFAULT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.announcements ALTER COLUMN sequence SET DEFAULT nextval('public.announcements_sequence_seq'::regclass);


--
-- Name: events sequence; Type: DEFAULT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.events ALTER COLUMN sequence SET DEFAULT nextval('public.events_sequence_seq'::regclass);


--
-- Data for Name: alembic_version; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.alembic_version (version_num) FROM stdin;
0001
\.


--
-- Data for Name: announcements; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.announcements (sequence, id, stack_id, engine, kind, body, created_at) FROM stdin;
\.


--
-- Data for Name: change_sets; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.change_sets (id, project_id, name, kind, stack_id, stack_name, description, status, reason, base, operation, body, created_at) FROM stdin;
\.


--
-- Data for Name: document_parts; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.document_parts (whole, part) FROM stdin;
6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc
\.


--
-- Data for Name: documents; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.documents (digest, body) FROM stdin;
474a7972282199786c17dccb993c458f33c7a2090e76a84241dff0f15ae6a31a	gAAAAABrAwdOrS1Ky-TJRqNgOn1yn_Fx7_9pECH_3iTGd9qXIfzFbJDqtjyEWhnLCCBP-b6fJqN3vGH_Kn2YYpPuu8kSvOErKiifgLdTPGilund8hquxLu3mcGOQoJRZit8hYWXUZP0DH07ROyz5WqfXXHSgd-0Z1ooMF_iZiNf-69ppcY6fJp1slK5mBZxzzGeicrKVICx3VNIRrriKLWHqFsxahABC7kBVVzwe9ZrFot00tGQcH2YYfUI63-Ct5C3KMWwmZy-64tg_zAZSOuq6c5CSrl8L2rUxKNDnY6PuOPXMgjxOfMPZi2YAMt_T3mL2z-m2EwsEouOhylTNlFzIvOgViTowi8M7KAu_2mnGLzm-EyoT-QuiJ_zsiLaTshZEwdtSj5NohoHvy9fVfj-IGH-O2vxMSH-2ArkK1XVWme3oz9MNZyKl6XugDRM9SxlOztAt28F3nmHK9Dy4u3M1FYYjIfAltDPqmaAF3zYnxyOt8h0L3f79nmBo5tt1oL5sdpHPLHEs52WDqII9t5iNjQs9lcQoTz7u7FJGyg9pthZH_Xauvfzg-4YOlBTRuoKXPZ_JvJbsYfmLCISOfBc-Pbg47T-B2uiezbIaMK4Z_B9qg9VtZiICLCMKUc76XD96HlY4Myva3JkYHLrr5YE2rkO_ZcfzeUYvQf2SM12vJaX39C7GtE3ds1bfaG_ezWcrBTba2rHtfaJNhLZ4HEzM50CUNldAxC95UmD2Y5jehjsbeJPnlNd6Zx06Pml3vgFwWEVhY8vVcaUDsqgR9pqNmAsG0Q65urRcjU4W3eY0DaLu_HzQlY4w4kEV6WiEJGUAlrePPlJuc0vL8ebGgC7R-GRwPa6kXWIGGOvQxwOih2zpQu4oqTuF4kdm_uq7OWd4FzT329ctwohxv6oQcOVhXLfvza1VY9MWq9Lkjj3qJG34CZqS8aaxE-e2ow_lreFrs0DTp0ZtIEJflZFozO5Kpaa3hTkcIniSITp82bTezPVa_3Vj0VzR2vb8N46HGg9KRvzLI2J9S-LKdc7451IZM5C6iX3ibWvvCwKZUPrGcIlBoJZYbj7r8cUGZODJLCjpMVKJCA8_hQEHPiurLMr_XHXOXdYeoc2knfZqGGmp0uZvoOVKmMmYmQDS0AZRGwXJ8Gu9LDLkAYO_iiHVeh2GoPGNrIqHWwIrhgnoK34-4N9X3x_9RU-9VdF6wy7yAZx8afG9kf1BS9QWaq6C-LmEXhbTTbB30WMp34e2iF_xOssyAvlTWMc35DRZ6L5VNEPoNErTFZhgVXtQL3IOFnwAdKjndRmUiojiD0wEArYBZh5awsxVDiQoUsWeUudzJylCS4ElE2kNhwy1bt1Q6eTM9Y7ejnc96za_hM_RwCBi9c_1-sl40vp_PldtR-SbIX2Zm5HJek954fCiC_XtSLHAmokx2Zr_nYKvFjEdMnJ6_qt1zb9Hbq81UEU0FBIuTSu7R2xLKkzQj2iI4F3rQl9mUM2IlNXe9U-9dwSTLcMheDybPsbloI6fM0lYNmVT_DB-DthaL9KLvX1eZ5k5ft_6VMun4j2X94jNLLuTirTBlVO6PAcP71W7uad1e5IJzNAUhjQtUECdqvB7EJ0bN0dsg6FN1Mvm_5oFGAwGVSEOgCXGi0nSS3RV04FsxaFw6CggEmhgvdC3SfrglJK5VMrpvz_u9PCsrJiJoVr1s_fFA4R_8cYrXhbZFQJGdyTIaihc_hEWW4lHY3zdZogwCHTsdOh1UhfD6EXnSEgYNNROEGWiOGi3cmY=
6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdOtY699aD-4Td6On1hLDTsDC05N9ilSp7bzC42t0VOyiiL4RhhHR1LqEdk_Y0qqlABGz75N3uB_Ei6GqquoaHwik6HsRDHTyudLiW6EyUJbACgJ_QWcn1OV5J8QENb09j8Y_gfSDYj-Yw1jtG7sWJ7Jk1E1GC6-vanBRfNMBStzDJ7f_I6TEO5iRniR7cJMw0s
d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	gAAAAABrAwdOUg0h88XqiKbKGXktb_LeGnrU0U1CG-8usDaA2caSCyG-oIEXelWta-dRLRUrSpkSEpALGdbcIVnRHU0p8u0pg9J_WKYNQsFMlq_N9NzhLxqXuk_viyv5VdJCvGoxBSPM-DeWZpsEejR9fBc0K7sBbB5zXP6i1fB4NI4neIFC6alIC6zANnKk6HTG1UZ1yy-95XPoH-TC31Z6RICe8PMvtg==
ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	gAAAAABrAwdOuaMQzIZ9iNhkWepc-jX8cRI5F2_Z3GC3oUMF1FobsrI-4Pw-l8oAs93wU5-5h45wwZeu68LjuFRc375DUzz7gKA_1C6HfyuY6ZeCys-QXzCKjC6eO4di8RsfJRFHAYJQqKS9I4ie8dnxb2Q61FN7roAONlmioIO6AnK_CjLhBkgwS6rMuqGCK3WzUBkqYnEmeo-OPq-AVcXFggxP-4MhhwZjGgibxSx1599BKJXGCIR96olLImtpnhlxRVyRgxMI4Z-HoHG_TDUaxFhqULC3hdUZ-C0WaYc700f-jJr-NhDDNYueRcTbZmYcq2mebhLIhxlEppLSZIJXTTZlOIrrTUIqzXekPK7o4A6kV8nio-bQZf7nvKzisU8ps9EfyAErrfAqy2tOZQckvTMKckMf7k4modh5u8tlG8bPmktTK1lg-tbnwyiSYcdiTAU1qyLp
c8a83cf939bec07ecc253791e004fb74410079b18464974536613941bf26e696	gAAAAABrAwdPHfbmlt4_TuHLuAin_24_Q3LJDUT-aHLKADgZNVXY4odIHbeGOFTESqF8--8fRoSXUfXVMf3wphihGDqRF8Blzv199IOUd2td1LvW106ddwdvAQ_D4JOadhr4k45KwAoHC2oyYvIv_64luociFUA_9qXpmudGX4gJRUGVAi6g8RDrXj-fSLcr8zisM9CTQYYffex_xUXq5GYq-NYxTl4aX7DVaIBlCsJ1pEcyaLw8PayFql1_CfTroIrNMqTSGrQTFqpgfDlcChLVRf-E-A2FzovnxW1RJJIPW5OjElZ_EMk=
998cdc5268cb5606af988eb9f21b970cc9ce24ed103299a7ef7223fe55d3ce91	gAAAAABrAwdPVP1MWuREKgQvnzOPd91eZQlQIGz_ENEWZhhSVpLErO2LySI8rkUOzVo8xJ75akWpfOOR2mTkSByWxLwdXDWPqRgt9oWKk3kkFUn6azcrJMFdTkaa4HfwtTKCLHqldUDUKe78cCF4lqWs4aOuQtQP_CMufFHOVWNtobJ4-ixXjJRwO7riXSGiluxbtlgq2ys0RBEhqcCMP16u_p9HOAEZ3nPjG7kYQoBRjLqyuqZNeupFQ6EU5fi5hmOhDrqfLo64UvPOlHtpXG9GX7CdjE7myktmR6tY6b3jQp2jZ8izh1Y0bVmHxscTK7ou5lnzufmhjUh0HaG99GjP_vQRYE_axBfpDUeu_WBcbil4e0eg8yGrxI91OstM-jfREVdD27tOmj0Cm_Ynozx0lIOqZBiBoDqhZBNIHveKBQjHOJhONcVaSrqW6h-cjbWY7EEtuvkLUbGdP7VxGTrUauLP5gLn5wjAIqx0-9XkSVS_zqpZ2M_KusPHk9tyWOHuoGFMG_5xelvCXExhjUIZd1lcxwHbRGt7pLmJL1iStPKUwCMweKJvCGIoObrg4YdskByNxCM5Eripx0yXDeum-5kksRZvItv2jw-lQSwXCVR_WWwP8StJnbkpXacSnEMqpS9RJlPMOGNaVTF3pjkpm_fbNbWWIanL8wSJu3oZX-Yh-53OMYy1K4NyrLvsIyHNzslEWJ7HRA48URqMkA43paz51Fazj38xRcHMWCEDrjgnpYg0c3q0hV-t9vAFCCRqsChIq4KG9ScGIfHsiJrAoDWyvnHWXZzevTB2NYPH_IbscMEGSx1Pvu71sowggyWLLHHLCIi0SfiRtnlB6eKOOIsFUGYZz5AhB1TNWef-FBGKX0KqBQvQAY44TaOTpqe7C70D91Z-dJl3s8LM9ulE-vFGRniTF_CtE183cySNkd50vu9Ca2F5b_ctnVOr4vuNv_VXBAOJRHjFss6dHxPTzR-mDZZQWU-ocrcchnPY9IPr-XVUyDgyRturrj-0OGZkOerb3Vv4CQmwA0gAr6tHBbuR3VwSh-BQDsyAt14DKtA9uMPD0RJ3tVZ_g2bxVc-oSK3qLbFh2E0CtxLwcQb-IwTIditEM5MrwQf1FPzP915nHsrIIguxv-3P1GD11hnuE4r1cttmDryAqIMfnmDjbnudyml8uQwBhoUSqM-YIJulAOZggScxRPEN2wkunA6ajJ8nCCzfebrULmBZ9vUVlI0JXErtudrPaHvvuLK7V8cGBJhe6Eaq09_1UErEXEGsSkRggW7_wj3pd_irbe-gDsRB4LXb32wABjLm8np9erlQsEhH1A9qd4zq36pumdxITtWC5EMo4oYk2sZ4ON1C6FYiKMIuzse6zhyxZhAmiGOre5l1eK8S3dNYd-_LJDl133cqiW8SBJ3XGUEcovSbe9mdQWw18vH3pDDVoJduk-v9XcNEjn3sCHv29Y41Oq5uE_wOGL-BDBMtNnhXzGifaJQYoARnL7bYfUmFxta4kx7DMimskCyCDpFPRT0Z5p_PxjVLrQOHp0ke50LB_Dvw9UpgHSyIHhbgPWcaCOXDU3O6PVKLGLb9nMiwwXqIVPZAauEGaX2rSinqi2Z-XyoJXUpDQ-LWTE_jpGa3Sr0-BPpL4D0vLiv2qFlj49ldjwdnP6C1CMz__Y_B6u3-_zsMaoXvX0dUiVDSPCRL-s97jjCbGkgGngcQOcf3NEzUEfDVCpRc9zkQLUuTCk5KxaPrTW7hTpxOAGNOX9utSpvU_Z70JJI0xbk=
4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	gAAAAABrAwdPjY3K_FFzIRpDh2ns7KJPN7UA4dWEL0D_YqefgpocIK7v2omAgdwItaEE7VyJNyB9Y20vEKak_Vr2GcHaq7hk7vEP4QELsHqQu_9dt7Y14CUZ-hM1eEE-ZP-g_74P_LQWLH7muPottfWULKa0nr0cU_E_bFMEENfy3AUKgBwkCinfKhUwBKObrVx6gYycdCcMkNty9f-uLWD5YCsKZZMEoNYmHqorM-xTY-fCHsRZKcAD8oh_qZ5rUCOAQVSBvkcD1fPo9E4T-7IfSeTasmzTEw==
5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAwdPSe5HfZB6w1O0hUk9dxmzG6yNIujXV5Uoa90TKxme3vAZOuDp6kltWBSW2WOSCG7ixb4fVhMMBDt5VGFhBRx-Qg==
775fbfc0b984871bac7c542ef7758683af5bf4692503c4ce2a0ed2049b3488b6	gAAAAABrAwdRQrb7cop1shjkSEdBTkVlRnbw4fh_N5bWTyhM2LpLbr5mGRS82XksBQlBG47PepVuaIKUHUVQ4PfL2dCsADcMPfkApHd7VNcyir8n1CY-mn4fRE_dtAzaSLLyG-BdsDamEoM2TnGwTJIGF3_gx3DgqfTZohllD1SFXVqt_mqFUVSvJ1mWvlhiMWOHxIYYWxh04UV389N6Y2SMrOat7AR4xjfog2MCcrf4CkySI9amVf3ZTR9mky3IJ7XCm_HAW4CroLGQBgYdhDSgDoB4l0f8uSY_EKSjKt2zxlkV4ugIa21gzj8dMI-1KXZj1J96X9hJvGlMxT-eB2TLaQ3tvw6c3lU4OzdIuz4rgE4igQoklyYC51fvJ-214MZ9CKVEIYVw
94a35c66b65b9f7d62bb584c3792d867e1db2bd2e8427f9eab61e22d86ad25e7	gAAAAABrAwdROaocVwXQfNUre5Kge0LhzkdjFKJmUrkmCGoyTOSg0WhNWwQIozy5cSk4fGM8km8RTh-ZVH_XpPK_s2LcLOFLP_mJP1NHraZOKDknq9jCUM0fCOb9VStDY4mYoeTF-Jcjss2vQv6OWln1ASgoLOWILili4qlUsh7-nRMshlvSaXyiPChwaFwekSwoc2tMYerlnNZz1L8Cm94f_-ucWiIfY_Zo5gw_QoRmgLM3uDpc2bVObQkyivofQU1m7foCZND_e_pd_oQCLrJsJwPDgEd6J-fz-83_cWbz3--l6NuKw4H0YZ1R3nLXJ9Y_FL-Oy9dwYJ3vxiVd3vZafGipC7-klqUwr_3TbW2F6cGsx55hZ3jJBpQjFmzjdiphe96fntbjYrctOFufyomvxQNI5su7E_EpzUsoJ1eXKpg9OvliFjvqmD1N3LNsTLCprFu9RDMKQlFpgWW3vdtWlapavCl5sJq5tmUin8LkqT9vZA_tN6ISN0Uyf9fUQDxvI0BomxH43Yax3MCxe9DRrz2Rt_no2rIktf7CE2iHiufhqktsewgcH-LQsF8f8n1AI26mGbseyJgDXrwO9OiSeUJddtb7c7m71rpsObohPb5waHk94xCwYHqCUM2YTvm9lCuOjpVeOKHnSx2UjvTnvlJg_B7SllhGXF2Xt0p6-Yca7KFn5tvfq5pfwD9zK-1BLU7ahaB2klWf4cGcbfQKm1LgWz_w8wPxG24fLGEUndmon-Pf7ic=
\.


--
-- Data for Name: drift_detections; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.drift_detections (id, stack_id, project_id, engine, status, reason, body, created_at) FROM stdin;
\.


--
-- Data for Name: engines; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.engines (id, host, process, version, started_at, seen_at, lease, stopped_at) FROM stdin;
3d4cc88c-1240-4d03-9cd1-753809c027ca	vm	16372	0.1.0	1795360590.8846807	1795360590.8899376	15	\N
\.


--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.events (sequence, id, stack_id, resource_name, resource_type, physical_id, action, status, reason, properties, "time") FROM stdin;
1	d185c46b-fc5e-4e0f-ad3b-aa7dcb2877f4	1b854873-5344-4048-a754-061b6872bf28	resting	OS::Heat::Stack	1b854873-5344-4048-a754-061b6872bf28	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360590.964097
2	7b31ee0f-79ed-42dd-abae-a4c2cebbc17e	1b854873-5344-4048-a754-061b6872bf28	net	OS::Neutron::Net	resting-net-shfkmk3sjscg	CREATE	IN_PROGRESS	state changed	6b1e6b9f-fcf3-4852-8b04-f9a9e1fdfb65	1795360590.9731348
3	51726aa1-422b-4765-b649-f1b7ffc30d8b	1b854873-5344-4048-a754-061b6872bf28	nested	child.yaml	resting-nested-gyqgurk75cjq	CREATE	IN_PROGRESS	state changed	f17be02a-21a4-42a4-bd9d-1f04ffb277a1	1795360590.9740694
4	e9f57c85-3a86-42e4-8617-9a83a41f286a	1b854873-5344-4048-a754-061b6872bf28	members	OS::Heat::ResourceGroup	resting-members-bljyaxeyay53	CREATE	IN_PROGRESS	state changed	e6c33b86-60b3-4531-8cd2-388df253719a	1795360590.9742944
5	707b2ab5-23f0-427b-96af-7ee6aec32d88	1b854873-5344-4048-a754-061b6872bf28	script	OS::Heat::SoftwareConfig	resting-script-bjmgawh4m4ka	CREATE	IN_PROGRESS	state changed	064fa42b-517c-48b3-ba0b-470609d12afd	1795360590.974501
6	0fafc45c-64d8-446e-9784-a5c36d9b0ecf	1b854873-5344-4048-a754-061b6872bf28	value	OS::Heat::Value	\N	CREATE	IN_PROGRESS	state changed	41331c5b-1813-47bd-aca0-36e21e0208a2	1795360590.9735913
7	b4bb90db-7d7f-4ac0-b5ce-3d85d23ad52e	1b854873-5344-4048-a754-061b6872bf28	value	OS::Heat::Value	resting-value-5wgmfdv4j6kn	CREATE	COMPLETE	state changed	41331c5b-1813-47bd-aca0-36e21e0208a2	1795360590.9823313
8	60f482c9-e880-4eb0-b426-15493f420158	1b854873-5344-4048-a754-061b6872bf28	random	OS::Heat::RandomString	\N	CREATE	IN_PROGRESS	state changed	acf716fa-dcd5-475c-aa1e-5e7c1bd724c0	1795360590.9738567
9	b5723a4b-9c3f-4320-8c0d-9f7b5f82e97a	1b854873-5344-4048-a754-061b6872bf28	random	OS::Heat::RandomString	resting-random-whgxjly5ypcz	CREATE	COMPLETE	state changed	acf716fa-dcd5-475c-aa1e-5e7c1bd724c0	1795360590.9827456
10	57c2a9a8-add3-4457-9153-64fbc28b74a5	ed3f0580-3cae-49f2-890d-c773b54f7bcc	resting-nested-gyqgurk75cjq	OS::Heat::Stack	ed3f0580-3cae-49f2-890d-c773b54f7bcc	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360590.9950778
11	c1a4bcdb-4463-48ce-b5c6-e57b5bfbb1eb	1b854873-5344-4048-a754-061b6872bf28	net	OS::Neutron::Net	24319605-d2a5-42e3-bcf7-674de1c5975d	CREATE	COMPLETE	state changed	6b1e6b9f-fcf3-4852-8b04-f9a9e1fdfb65	1795360590.995457
12	f63998cc-810e-44de-bd73-9cca2e478b2f	f2128038-ffa6-4e06-a615-6318b01f7556	resting-members-bljyaxeyay53	OS::Heat::Stack	f2128038-ffa6-4e06-a615-6318b01f7556	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360590.9995027
13	7b2d2ddb-2f48-4f39-9501-0b4e3e8d785d	1b854873-5344-4048-a754-061b6872bf28	script	OS::Heat::SoftwareConfig	94e24756-bf02-4016-90a5-86058fc67140	CREATE	COMPLETE	state changed	064fa42b-517c-48b3-ba0b-470609d12afd	1795360591.0019531
14	2bbda19f-0acb-4242-b6ff-106561a62796	1b854873-5344-4048-a754-061b6872bf28	subnet	OS::Neutron::Subnet	resting-subnet-w5h3lqjf557t	CREATE	IN_PROGRESS	state changed	f414926a-187a-42e6-9642-e26edd38e5ed	1795360591.0028055
15	d62df2e6-bbb7-4a3c-bc4e-ec64450ee315	ed3f0580-3cae-49f2-890d-c773b54f7bcc	net	OS::Neutron::Net	resting-nested-gyqgurk75cjq-net-yd34p54joqz3	CREATE	IN_PROGRESS	state changed	c3f6d69e-d693-461a-af10-d3523af9e389	1795360591.0068738
16	753e156f-fbad-4287-91f1-4e09fb56be5d	ed3f0580-3cae-49f2-890d-c773b54f7bcc	volume	OS::Cinder::Volume	resting-nested-gyqgurk75cjq-volume-g4t7rvmfvktr	CREATE	IN_PROGRESS	state changed	afd01f77-9552-460f-8d67-cfae2733973f	1795360591.0071099
17	74186538-7870-4b1b-98bd-34bb7974a84d	f2128038-ffa6-4e06-a615-6318b01f7556	0	child.yaml	resting-members-bljyaxeyay53-0-7lszpk5ccex5	CREATE	IN_PROGRESS	state changed	a32db94c-e70b-4609-9afc-c8e9798c7e32	1795360591.0109687
18	0701b76d-b06e-4e6b-ab5f-d1ebf0eaaeac	f2128038-ffa6-4e06-a615-6318b01f7556	1	child.yaml	resting-members-bljyaxeyay53-1-udyzisrqjaaj	CREATE	IN_PROGRESS	state changed	ee462277-eadc-440c-ac25-3ed4df010af6	1795360591.0111914
19	275890f8-850b-496b-9c81-34d590b9576d	1b854873-5344-4048-a754-061b6872bf28	subnet	OS::Neutron::Subnet	0c1d4264-6a49-484b-a236-ac1ef2af2b83	CREATE	COMPLETE	state changed	f414926a-187a-42e6-9642-e26edd38e5ed	1795360591.0171628
20	44459449-a6e3-4841-8e58-ded607b33a71	ed3f0580-3cae-49f2-890d-c773b54f7bcc	net	OS::Neutron::Net	6cfa1058-6456-4860-8b20-60a427a640da	CREATE	COMPLETE	state changed	c3f6d69e-d693-461a-af10-d3523af9e389	1795360591.01972
21	c6c99909-ee5f-453b-8c97-53fdfdf3c8cc	1f0ff24c-3807-4f5c-9239-828f57657cd6	resting-members-bljyaxeyay53-0-7lszpk5ccex5	OS::Heat::Stack	1f0ff24c-3807-4f5c-9239-828f57657cd6	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360591.0224998
22	80d2bd5a-f9d1-48f9-add7-37025a16f4a7	6beaa425-a9b2-4292-95d4-806295a740ac	resting-members-bljyaxeyay53-1-udyzisrqjaaj	OS::Heat::Stack	6beaa425-a9b2-4292-95d4-806295a740ac	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360591.0233922
23	bb9ecfbf-5d2b-447a-97eb-ed6629b73a9c	1b854873-5344-4048-a754-061b6872bf28	server	OS::Nova::Server	resting-server-cliw3a3umbqt	CREATE	IN_PROGRESS	state changed	13a6a5c9-9ce0-40a2-98a2-55cef309a2bf	1795360591.0279737
24	34e17349-ed4c-4d6d-aaf6-74ae3aaf4e7f	6beaa425-a9b2-4292-95d4-806295a740ac	net	OS::Neutron::Net	resting-members-bljyaxeyay53-1-udyzisrqjaaj-net-beqgnwnc2x2s	CREATE	IN_PROGRESS	state changed	38adee17-78b7-4f19-b05d-d8fceb15aca1	1795360591.0333855
25	8d55abe1-c6f5-42cd-91fb-d654b54ef128	6beaa425-a9b2-4292-95d4-806295a740ac	volume	OS::Cinder::Volume	resting-members-bljyaxeyay53-1-udyzisrqjaaj-volume-tgauzq2o6gxc	CREATE	IN_PROGRESS	state changed	3411c4a6-402e-4be9-b750-9a3f32d28a79	1795360591.0335531
26	56964a61-1055-49df-95a0-7891480b96c6	1f0ff24c-3807-4f5c-9239-828f57657cd6	net	OS::Neutron::Net	resting-members-bljyaxeyay53-0-7lszpk5ccex5-net-zd55dbmnuzd3	CREATE	IN_PROGRESS	state changed	65208be5-17da-4c89-a92b-e07ab0d9f5aa	1795360591.0360315
27	9024c8d9-99ac-421a-bf22-90c2f32f810d	1f0ff24c-3807-4f5c-9239-828f57657cd6	volume	OS::Cinder::Volume	resting-members-bljyaxeyay53-0-7lszpk5ccex5-volume-bbijkq4sdnmr	CREATE	IN_PROGRESS	state changed	f102d310-3cc0-41f0-b08a-86a8f2efc7da	1795360591.0362678
28	7779a445-749d-46b8-8a1e-d289e32ba1ff	6beaa425-a9b2-4292-95d4-806295a740ac	net	OS::Neutron::Net	e1bd198d-682a-4438-af96-1708c517c2c6	CREATE	COMPLETE	state changed	38adee17-78b7-4f19-b05d-d8fceb15aca1	1795360591.0470126
29	4b8633f3-851b-4438-91f8-c792e3cd37b0	1f0ff24c-3807-4f5c-9239-828f57657cd6	net	OS::Neutron::Net	e62c37a5-cecd-4b29-ab5f-1eaf3674c313	CREATE	COMPLETE	state changed	65208be5-17da-4c89-a92b-e07ab0d9f5aa	1795360591.0507693
30	13222645-82a3-44ed-bcd2-d729394e4637	ed3f0580-3cae-49f2-890d-c773b54f7bcc	volume	OS::Cinder::Volume	9c86af09-7816-472e-823c-8b65606cc2d3	CREATE	COMPLETE	state changed	afd01f77-9552-460f-8d67-cfae2733973f	1795360591.2820268
31	25b40ef2-cd69-4d54-b043-77e58bcdf700	ed3f0580-3cae-49f2-890d-c773b54f7bcc	resting-nested-gyqgurk75cjq	OS::Heat::Stack	ed3f0580-3cae-49f2-890d-c773b54f7bcc	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795360591.2842925
32	c7d800f5-da98-44db-995f-461081ae2017	1b854873-5344-4048-a754-061b6872bf28	nested	child.yaml	ed3f0580-3cae-49f2-890d-c773b54f7bcc	CREATE	COMPLETE	state changed	f17be02a-21a4-42a4-bd9d-1f04ffb277a1	1795360591.2878046
33	6c0762c5-795d-43b0-bc3f-9572bf4f213d	6beaa425-a9b2-4292-95d4-806295a740ac	volume	OS::Cinder::Volume	79b8d60a-3693-4cdf-8df3-9c66de774e89	CREATE	COMPLETE	state changed	3411c4a6-402e-4be9-b750-9a3f32d28a79	1795360591.3066847
34	e6527325-6d81-450b-9e68-5b3e7aa63f37	1f0ff24c-3807-4f5c-9239-828f57657cd6	volume	OS::Cinder::Volume	429d4d35-8ba5-4a20-bdec-19923452d627	CREATE	COMPLETE	state changed	f102d310-3cc0-41f0-b08a-86a8f2efc7da	1795360591.309437
35	bd204bb7-7914-4275-9c5e-b565b17d15a6	6beaa425-a9b2-4292-95d4-806295a740ac	resting-members-bljyaxeyay53-1-udyzisrqjaaj	OS::Heat::Stack	6beaa425-a9b2-4292-95d4-806295a740ac	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795360591.310535
36	6d843e8e-77c5-4650-b425-990bde6e8afa	1f0ff24c-3807-4f5c-9239-828f57657cd6	resting-members-bljyaxeyay53-0-7lszpk5ccex5	OS::Heat::Stack	1f0ff24c-3807-4f5c-9239-828f57657cd6	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795360591.3110344
37	73d6258c-1e36-49af-ba58-050b54a06747	f2128038-ffa6-4e06-a615-6318b01f7556	1	child.yaml	6beaa425-a9b2-4292-95d4-806295a740ac	CREATE	COMPLETE	state changed	ee462277-eadc-440c-ac25-3ed4df010af6	1795360591.3133993
38	7b4f8e69-bb4b-441e-a152-88af36966469	f2128038-ffa6-4e06-a615-6318b01f7556	0	child.yaml	1f0ff24c-3807-4f5c-9239-828f57657cd6	CREATE	COMPLETE	state changed	a32db94c-e70b-4609-9afc-c8e9798c7e32	1795360591.3136988
39	67c154df-dd0f-45db-a080-fa9ca2aa54b8	f2128038-ffa6-4e06-a615-6318b01f7556	resting-members-bljyaxeyay53	OS::Heat::Stack	f2128038-ffa6-4e06-a615-6318b01f7556	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795360591.3149672
40	23437776-b013-40f0-9781-b2637fcd6fd1	1b854873-5344-4048-a754-061b6872bf28	members	OS::Heat::ResourceGroup	f2128038-ffa6-4e06-a615-6318b01f7556	CREATE	COMPLETE	state changed	e6c33b86-60b3-4531-8cd2-388df253719a	1795360591.320441
41	913a0c2e-f6e7-43e9-9b5e-f66f4981e7b0	1b854873-5344-4048-a754-061b6872bf28	server	OS::Nova::Server	d146e542-f78f-4c7a-9172-ee87f814ff95	CREATE	COMPLETE	state changed	13a6a5c9-9ce0-40a2-98a2-55cef309a2bf	1795360591.324746
42	e4568f14-9389-42c4-b294-35f19eda4862	1b854873-5344-4048-a754-061b6872bf28	deployed	OS::Heat::SoftwareDeployment	resting-deployed-udxpqlsofxem	CREATE	IN_PROGRESS	state changed	2a574b55-d913-43b9-b5ed-e84226aa91cb	1795360591.326419
43	2df87205-8dce-405d-849f-b17445c60848	1b854873-5344-4048-a754-061b6872bf28	deployed	OS::Heat::SoftwareDeployment	cd48f9be-6105-45d5-9a0e-ef82e4e2dc8c	CREATE	COMPLETE	state changed	2a574b55-d913-43b9-b5ed-e84226aa91cb	1795360591.340866
44	cac10ae7-f46a-4f4b-8707-aaa962aac44f	1b854873-5344-4048-a754-061b6872bf28	resting	OS::Heat::Stack	1b854873-5344-4048-a754-061b6872bf28	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795360591.3445919
45	3255f962-bdb5-44d3-8d3d-f4787f854118	1b854873-5344-4048-a754-061b6872bf28	resting	OS::Heat::Stack	1b854873-5344-4048-a754-061b6872bf28	UPDATE	IN_PROGRESS	Stack UPDATE started	\N	1795360591.3575954
46	db45f2c1-bef2-4040-885c-5adb3f6282e4	1b854873-5344-4048-a754-061b6872bf28	nested	child.yaml	ed3f0580-3cae-49f2-890d-c773b54f7bcc	UPDATE	IN_PROGRESS	state changed	8aa35b70-256d-4e6a-87a1-be55eb0bf0ca	1795360591.3666995
47	427c5a32-0a8e-4985-93f4-f86cdc1f121d	ed3f0580-3cae-49f2-890d-c773b54f7bcc	resting-nested-gyqgurk75cjq	OS::Heat::Stack	ed3f0580-3cae-49f2-890d-c773b54f7bcc	UPDATE	IN_PROGRESS	Stack UPDATE started	\N	1795360591.3688436
48	4af63ed0-14e0-464d-8a62-39e2a6832ed8	ed3f0580-3cae-49f2-890d-c773b54f7bcc	net	OS::Neutron::Net	6cfa1058-6456-4860-8b20-60a427a640da	UPDATE	IN_PROGRESS	state changed	d1f551ed-d7b6-4bfa-a5e0-ad7114974e84	1795360591.3742871
49	ff04d63e-a5bb-4aa2-ae53-cb0f69d0dc7b	ed3f0580-3cae-49f2-890d-c773b54f7bcc	net	OS::Neutron::Net	6cfa1058-6456-4860-8b20-60a427a640da	UPDATE	COMPLETE	state changed	d1f551ed-d7b6-4bfa-a5e0-ad7114974e84	1795360591.3773906
50	1e4ff54a-df55-4b03-af0d-87aa21e41417	ed3f0580-3cae-49f2-890d-c773b54f7bcc	resting-nested-gyqgurk75cjq	OS::Heat::Stack	ed3f0580-3cae-49f2-890d-c773b54f7bcc	UPDATE	COMPLETE	Stack UPDATE completed successfully	\N	1795360591.378655
51	bebbd2f8-bcef-45d8-919b-369b8e309af0	1b854873-5344-4048-a754-061b6872bf28	nested	child.yaml	ed3f0580-3cae-49f2-890d-c773b54f7bcc	UPDATE	COMPLETE	state changed	8aa35b70-256d-4e6a-87a1-be55eb0bf0ca	1795360591.3807735
52	aa93a879-b18e-4320-9ad0-d41edf66bb34	1b854873-5344-4048-a754-061b6872bf28	resting	OS::Heat::Stack	1b854873-5344-4048-a754-061b6872bf28	UPDATE	COMPLETE	Stack UPDATE completed successfully	\N	1795360591.3844576
53	9131eea7-39b3-4cd4-bbf9-076b38e3a084	f8046dc2-764f-47be-81d2-00a16966048f	changing	OS::Heat::Stack	f8046dc2-764f-47be-81d2-00a16966048f	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360591.3915827
54	c3df6d47-8e26-40b3-9aa5-11376243c51c	f8046dc2-764f-47be-81d2-00a16966048f	net	OS::Neutron::Net	changing-net-fpjv753huzi5	CREATE	IN_PROGRESS	state changed	7ece11cb-dbfc-44b5-b02b-74e9cfca64cb	1795360591.3942504
55	1df6b42f-5a1f-4813-974f-31dc889a22ec	f8046dc2-764f-47be-81d2-00a16966048f	volume	OS::Cinder::Volume	changing-volume-repvpmg3ykh3	CREATE	IN_PROGRESS	state changed	703e2394-beb1-4c7c-ace2-41bb45f87795	1795360591.3944197
56	a35cd87b-b1ab-4fa1-83ba-f3358ade4413	f8046dc2-764f-47be-81d2-00a16966048f	net	OS::Neutron::Net	e9eb1209-335f-43ff-8628-674c84650371	CREATE	COMPLETE	state changed	7ece11cb-dbfc-44b5-b02b-74e9cfca64cb	1795360591.3994117
57	2874bafe-5896-49e5-9d66-f2ad3f77d111	f8046dc2-764f-47be-81d2-00a16966048f	volume	OS::Cinder::Volume	46674130-85f5-4b79-85b3-3380f950ca52	CREATE	COMPLETE	state changed	703e2394-beb1-4c7c-ace2-41bb45f87795	1795360591.653463
58	07095303-b8a7-4d07-88de-80ac2960aae0	f8046dc2-764f-47be-81d2-00a16966048f	changing	OS::Heat::Stack	f8046dc2-764f-47be-81d2-00a16966048f	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795360591.6558383
59	d702eb38-3812-42ee-a26c-96977dd98d3b	23714fd9-0b7d-4e67-9990-4f23701dc7ed	falling	OS::Heat::Stack	23714fd9-0b7d-4e67-9990-4f23701dc7ed	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360591.6608374
60	75224e38-5d35-4f38-a6c5-595d501f56f3	23714fd9-0b7d-4e67-9990-4f23701dc7ed	net	OS::Neutron::Net	falling-net-stjijwofoicd	CREATE	IN_PROGRESS	state changed	3e0a3424-7e08-4fff-8b8b-a52a2b7fa9d7	1795360591.6630902
61	3404bc79-a70b-483d-b3a2-fd8e1fae3c74	23714fd9-0b7d-4e67-9990-4f23701dc7ed	volume	OS::Cinder::Volume	falling-volume-qtxwa2olmckz	CREATE	IN_PROGRESS	state changed	182cd780-0133-4ce1-8e68-ca74cea378e3	1795360591.6644766
62	7ad5281c-c7cf-4977-b945-0d2a4e172e0b	23714fd9-0b7d-4e67-9990-4f23701dc7ed	net	OS::Neutron::Net	8c253f70-c329-44bb-9d21-7683dd1c8ed2	CREATE	COMPLETE	state changed	3e0a3424-7e08-4fff-8b8b-a52a2b7fa9d7	1795360591.6674194
63	b2c27503-c802-40e2-bb2c-6313750c40cb	23714fd9-0b7d-4e67-9990-4f23701dc7ed	volume	OS::Cinder::Volume	6ef073fd-624d-4479-ae04-ce38ff2c4455	CREATE	COMPLETE	state changed	182cd780-0133-4ce1-8e68-ca74cea378e3	1795360591.9239657
64	92107e49-0d85-4cbe-a2e7-31cfe3d50b3b	23714fd9-0b7d-4e67-9990-4f23701dc7ed	falling	OS::Heat::Stack	23714fd9-0b7d-4e67-9990-4f23701dc7ed	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795360591.9267037
65	916e6dd2-178d-4662-9c1a-7a924b019c0d	ed29fb82-2288-4e5d-993b-02bf1421bfb5	kept	OS::Heat::Stack	ed29fb82-2288-4e5d-993b-02bf1421bfb5	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360591.9348788
66	57d2fd55-adbf-427a-9c68-6be355fcfb49	ed29fb82-2288-4e5d-993b-02bf1421bfb5	net	OS::Neutron::Net	kept-net-krrhuhmk5xmi	CREATE	IN_PROGRESS	state changed	2147d266-d9e0-4ae3-ae7f-1421f36c1d20	1795360591.937506
67	36de9ff5-cd12-4693-ab62-616e52cbd307	ed29fb82-2288-4e5d-993b-02bf1421bfb5	volume	OS::Cinder::Volume	kept-volume-vr25fiaj26hg	CREATE	IN_PROGRESS	state changed	2e95dbce-3839-4729-8ea8-def2b2162901	1795360591.939054
68	385e861f-30a8-48dd-88af-769a3e4a0393	ed29fb82-2288-4e5d-993b-02bf1421bfb5	net	OS::Neutron::Net	a1f86300-11f2-43ee-8c30-8ae932d9a68f	CREATE	COMPLETE	state changed	2147d266-d9e0-4ae3-ae7f-1421f36c1d20	1795360591.9419794
69	ea8d7c11-e666-42cd-9ff2-b7b8af55f1d6	ed29fb82-2288-4e5d-993b-02bf1421bfb5	volume	OS::Cinder::Volume	dc54fbe6-2c06-434a-8c9c-fa04d7a39d49	CREATE	COMPLETE	state changed	2e95dbce-3839-4729-8ea8-def2b2162901	1795360592.2005048
70	d7b4ba5f-792f-459b-a246-0234335ae39a	ed29fb82-2288-4e5d-993b-02bf1421bfb5	kept	OS::Heat::Stack	ed29fb82-2288-4e5d-993b-02bf1421bfb5	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795360592.202635
71	578acc85-c81b-4547-967a-6fd7416b7603	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	gone	OS::Heat::Stack	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360592.2074876
72	e5ccfce1-d39c-4b0f-9467-7aa7285337df	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	net	OS::Neutron::Net	gone-net-gkpmdjyd6eyg	CREATE	IN_PROGRESS	state changed	ffbb3be3-bcaa-45c8-8ae1-b7ac1f77017b	1795360592.2099092
73	85598e5e-203b-4fa7-a69f-7f07e86dd4b7	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	volume	OS::Cinder::Volume	gone-volume-qszpe6cp4fc2	CREATE	IN_PROGRESS	state changed	cc4885cf-2f04-4f1f-ad7a-d3d6f22931c0	1795360592.2100859
74	0dec6fa5-a617-4b61-b009-142f74fc556d	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	net	OS::Neutron::Net	443f4c6e-0a1d-4815-a89a-098cdfb8d841	CREATE	COMPLETE	state changed	ffbb3be3-bcaa-45c8-8ae1-b7ac1f77017b	1795360592.2134936
75	292f5ca3-eb57-4d78-aaae-eb05ed2a3af4	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	volume	OS::Cinder::Volume	99c81729-0392-4e39-bae5-994941e340b9	CREATE	COMPLETE	state changed	cc4885cf-2f04-4f1f-ad7a-d3d6f22931c0	1795360592.469396
76	cb184019-b6d1-4ff9-977f-16f6681b764d	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	gone	OS::Heat::Stack	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	CREATE	COMPLETE	Stack CREATE completed successfully	\N	1795360592.4713688
77	463c20d1-81b8-48ca-8cfc-e90f2a093081	ed29fb82-2288-4e5d-993b-02bf1421bfb5	kept	OS::Heat::Stack	ed29fb82-2288-4e5d-993b-02bf1421bfb5	SNAPSHOT	IN_PROGRESS	Stack SNAPSHOT started	\N	1795360592.4755006
78	821ab398-f051-42a6-8cfe-083d41fcc356	ed29fb82-2288-4e5d-993b-02bf1421bfb5	net	OS::Neutron::Net	a1f86300-11f2-43ee-8c30-8ae932d9a68f	SNAPSHOT	IN_PROGRESS	state changed	2147d266-d9e0-4ae3-ae7f-1421f36c1d20	1795360592.4819608
79	99bae107-5aac-4363-843e-185e11023cf8	ed29fb82-2288-4e5d-993b-02bf1421bfb5	volume	OS::Cinder::Volume	dc54fbe6-2c06-434a-8c9c-fa04d7a39d49	SNAPSHOT	IN_PROGRESS	state changed	2e95dbce-3839-4729-8ea8-def2b2162901	1795360592.4820611
80	7e9080de-0014-41de-ad69-e71675e8a2bc	ed29fb82-2288-4e5d-993b-02bf1421bfb5	net	OS::Neutron::Net	a1f86300-11f2-43ee-8c30-8ae932d9a68f	SNAPSHOT	COMPLETE	state changed	2147d266-d9e0-4ae3-ae7f-1421f36c1d20	1795360592.4844937
81	d98614bc-78aa-48ce-baac-7090334bc887	ed29fb82-2288-4e5d-993b-02bf1421bfb5	volume	OS::Cinder::Volume	dc54fbe6-2c06-434a-8c9c-fa04d7a39d49	SNAPSHOT	COMPLETE	state changed	2e95dbce-3839-4729-8ea8-def2b2162901	1795360592.7415671
82	2226633b-1626-4006-ad85-29e95a512bb1	ed29fb82-2288-4e5d-993b-02bf1421bfb5	kept	OS::Heat::Stack	ed29fb82-2288-4e5d-993b-02bf1421bfb5	SNAPSHOT	COMPLETE	Stack SNAPSHOT completed successfully	\N	1795360592.747441
83	83a3e1c5-70be-4b6d-bbe1-8f85e01a1297	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	gone	OS::Heat::Stack	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	DELETE	IN_PROGRESS	Stack DELETE started	\N	1795360592.7517138
84	5009fd66-2ec2-47b8-a778-6d639d9c2b39	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	volume	OS::Cinder::Volume	99c81729-0392-4e39-bae5-994941e340b9	DELETE	IN_PROGRESS	state changed	cc4885cf-2f04-4f1f-ad7a-d3d6f22931c0	1795360592.7556286
85	c8bf7acf-a532-43e2-a168-ff6fa55bcda5	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	net	OS::Neutron::Net	443f4c6e-0a1d-4815-a89a-098cdfb8d841	DELETE	IN_PROGRESS	state changed	ffbb3be3-bcaa-45c8-8ae1-b7ac1f77017b	1795360592.7557251
86	9fba50b0-408a-47eb-9a88-34626ac6e475	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	net	OS::Neutron::Net	443f4c6e-0a1d-4815-a89a-098cdfb8d841	DELETE	COMPLETE	state changed	ffbb3be3-bcaa-45c8-8ae1-b7ac1f77017b	1795360592.7619228
87	b6eaa8a2-2249-4e7b-aacd-cdcf705650e3	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	volume	OS::Cinder::Volume	99c81729-0392-4e39-bae5-994941e340b9	DELETE	COMPLETE	state changed	cc4885cf-2f04-4f1f-ad7a-d3d6f22931c0	1795360593.0163088
88	d643e08c-b567-4b00-a073-681f36f8086a	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	gone	OS::Heat::Stack	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	DELETE	COMPLETE	Stack DELETE completed successfully	\N	1795360593.019996
89	53e81ec2-9d26-452b-9d19-b8f1f3931a5f	47720cdf-97cf-48a3-9544-c8fcc71afe08	rising	OS::Heat::Stack	47720cdf-97cf-48a3-9544-c8fcc71afe08	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360593.0295372
90	982d589a-5a5f-47df-8926-7c01c78630ec	47720cdf-97cf-48a3-9544-c8fcc71afe08	nested	child.yaml	rising-nested-pc6vgxlbvipu	CREATE	IN_PROGRESS	state changed	97973644-3199-4107-9a86-d5155f011cf2	1795360593.0323262
91	62581fc5-9dcc-4757-82f2-f6a4fb162da5	9ab5a3c1-1a5d-482b-ade5-cc381330575d	rising-nested-pc6vgxlbvipu	OS::Heat::Stack	9ab5a3c1-1a5d-482b-ade5-cc381330575d	CREATE	IN_PROGRESS	Stack CREATE started	\N	1795360593.0372581
92	47c7ab6a-fb85-4837-bc57-ac16625c2cc3	f8046dc2-764f-47be-81d2-00a16966048f	changing	OS::Heat::Stack	f8046dc2-764f-47be-81d2-00a16966048f	UPDATE	IN_PROGRESS	Stack UPDATE started	\N	1795360593.03744
93	4b1f25e0-489e-456c-b96a-d52178c086bb	9ab5a3c1-1a5d-482b-ade5-cc381330575d	net	OS::Neutron::Net	rising-nested-pc6vgxlbvipu-net-3j6ztyqrqktv	CREATE	IN_PROGRESS	state changed	918202bb-790e-471b-81a5-d4eb23673687	1795360593.0443041
94	21ffe39e-159f-4648-a293-ec989ddc46dc	9ab5a3c1-1a5d-482b-ade5-cc381330575d	volume	OS::Cinder::Volume	rising-nested-pc6vgxlbvipu-volume-ehdedsgbaf42	CREATE	IN_PROGRESS	state changed	2666cc54-fc92-4e47-bdd7-4e5fade1ffc3	1795360593.0446131
95	98328a38-885e-453e-a30a-2b0fb0ee3833	f8046dc2-764f-47be-81d2-00a16966048f	subnet	OS::Neutron::Subnet	changing-subnet-eyqmsw3bjwl6	CREATE	IN_PROGRESS	state changed	6fc43a44-e7ed-4103-a813-8c8afb4c114a	1795360593.0474052
96	db663135-7a76-4818-b273-4490319c1f79	23714fd9-0b7d-4e67-9990-4f23701dc7ed	falling	OS::Heat::Stack	23714fd9-0b7d-4e67-9990-4f23701dc7ed	DELETE	IN_PROGRESS	Stack DELETE started	\N	1795360593.0484488
97	8f4a5ed9-544b-4ad7-9aa1-f3cc14f1eac1	9ab5a3c1-1a5d-482b-ade5-cc381330575d	net	OS::Neutron::Net	0caf6ced-24f8-4e2b-b73d-f0bdbda3f2cb	CREATE	COMPLETE	state changed	918202bb-790e-471b-81a5-d4eb23673687	1795360593.054018
98	884cf471-838e-4c1b-b155-44158fcbdd8b	23714fd9-0b7d-4e67-9990-4f23701dc7ed	volume	OS::Cinder::Volume	6ef073fd-624d-4479-ae04-ce38ff2c4455	DELETE	IN_PROGRESS	state changed	182cd780-0133-4ce1-8e68-ca74cea378e3	1795360593.0602324
99	05e67a7c-d870-44cc-a798-6b65002a72da	23714fd9-0b7d-4e67-9990-4f23701dc7ed	net	OS::Neutron::Net	8c253f70-c329-44bb-9d21-7683dd1c8ed2	DELETE	IN_PROGRESS	state changed	3e0a3424-7e08-4fff-8b8b-a52a2b7fa9d7	1795360593.0603657
100	8596d48a-fc9b-45b0-886a-a1e67ed68065	f8046dc2-764f-47be-81d2-00a16966048f	subnet	OS::Neutron::Subnet	a690bca5-4fb3-487f-bf9f-8e57912e7816	CREATE	COMPLETE	state changed	6fc43a44-e7ed-4103-a813-8c8afb4c114a	1795360593.0610752
101	d8121bfd-5c5e-4df5-9008-0ddd03600aca	f8046dc2-764f-47be-81d2-00a16966048f	port	OS::Neutron::Port	changing-port-2w4j4e7aodm3	CREATE	IN_PROGRESS	state changed	dc5de319-b8b4-4e87-a92b-4bba21390704	1795360593.064209
102	567a8f1e-c7ca-4d03-a986-4631fd9e37bc	23714fd9-0b7d-4e67-9990-4f23701dc7ed	net	OS::Neutron::Net	8c253f70-c329-44bb-9d21-7683dd1c8ed2	DELETE	COMPLETE	state changed	3e0a3424-7e08-4fff-8b8b-a52a2b7fa9d7	1795360593.067731
103	03c8a42e-a83c-4567-8b04-b3d458217209	ed29fb82-2288-4e5d-993b-02bf1421bfb5	kept	OS::Heat::Stack	ed29fb82-2288-4e5d-993b-02bf1421bfb5	SNAPSHOT	IN_PROGRESS	Stack SNAPSHOT started	\N	1795360593.0694287
104	47aa7279-39ab-4599-a27a-a9cb7355407b	f8046dc2-764f-47be-81d2-00a16966048f	port	OS::Neutron::Port	9b74d9ef-1ab6-4b5c-9c6c-2ce305b45331	CREATE	COMPLETE	state changed	dc5de319-b8b4-4e87-a92b-4bba21390704	1795360593.074061
105	d6babb82-9833-4944-8598-79956033a628	ed29fb82-2288-4e5d-993b-02bf1421bfb5	net	OS::Neutron::Net	a1f86300-11f2-43ee-8c30-8ae932d9a68f	SNAPSHOT	IN_PROGRESS	state changed	2147d266-d9e0-4ae3-ae7f-1421f36c1d20	1795360593.077233
106	88b07dea-173f-4acc-ac50-cfb3f897024c	ed29fb82-2288-4e5d-993b-02bf1421bfb5	volume	OS::Cinder::Volume	dc54fbe6-2c06-434a-8c9c-fa04d7a39d49	SNAPSHOT	IN_PROGRESS	state changed	2e95dbce-3839-4729-8ea8-def2b2162901	1795360593.0773604
107	33dd0fe6-517a-4509-a06c-8fa2f2372b8c	f8046dc2-764f-47be-81d2-00a16966048f	server	OS::Nova::Server	changing-server-2z337dqdcn3h	CREATE	IN_PROGRESS	state changed	8ea3bc37-8d09-4c99-8413-8cc19f274a1f	1795360593.0787873
108	39669dfc-e33a-42ad-bbf2-945007199547	ed29fb82-2288-4e5d-993b-02bf1421bfb5	net	OS::Neutron::Net	a1f86300-11f2-43ee-8c30-8ae932d9a68f	SNAPSHOT	COMPLETE	state changed	2147d266-d9e0-4ae3-ae7f-1421f36c1d20	1795360593.0799801
\.


--
-- Data for Name: exports; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.exports (project_id, name, stack_id, value) FROM stdin;
\.


--
-- Data for Name: imports; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.imports (stack_id, name, project_id) FROM stdin;
\.


--
-- Data for Name: inputs; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.inputs (id, template, environment, files, parameters) FROM stdin;
53ad36c1-d700-474a-9dd0-041c93fcf63f	474a7972282199786c17dccb993c458f33c7a2090e76a84241dff0f15ae6a31a	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdOLI270q20xGdXODjhvj1vXD253IQYNCJZPXDx7iv1i3GFQqQIU_9y92vxTghU9NDc3NInZsK9w9foyVLC7qBD9k8wXbDrSrewaj9EGJOGXUZi1lSdKPBl50dhm06mARR-V_4PSFMD3CBIH_9tjQQ2rQ==
9597d633-40d9-4c9f-851a-d792670d2f22	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdOTbSMSmbc8ZgXfy4wN45MjjVr1A25tmZPIlhj9qcHN-dgUtxBdY14QsuTwXE1rZuArxolPxzNKtNON2kH5gymlYQirR4jKHJcpA8wyScntrWJ94fBZlv6DGivGg0IZH3k
1572d26b-a903-4c4b-a76b-f936e0129d1b	c8a83cf939bec07ecc253791e004fb74410079b18464974536613941bf26e696	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdO0uTVUZKAqMxcyyOQ1W9fZ5QvqVn7CAqSr60DAIKX567YQ_xLalt9rzNjBi7JkYk1QU0rIyJ99VAi44NKIHUoWAbAGnwWxyljIbi4lmkCWiY=
c571db28-1e78-453e-b594-3b80eba84103	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdPf9oqfa26u_If3FwYHGv9tzsGuQWN5xXO-5xFQ4M9oh_le9UR7KwbzelEOWlCSDfLJiDonQId-B6aSwXHJUDD-sdeIGnN2vBvpB2mr41QrO7sA7oGPyFfdzrJK7O346cm_WX1CgqHJu48_x4D-6Kr3A==
926b3011-8446-4ce7-b07b-2df1790d824f	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdPsUEyQvbYh1MyZMvwqvn9Yfh0iPUEayJq43PKzcuux8CwrZ1yXDY8Xe9mg7I4hDcWhLaY0CST1oHnPMebaYcWZ6KOhuodr6l-etQE26hVFBt-Zq43ybVYLioVnK1RfVo5Leqm-DcO3HnmE5v0LAmGRA==
96c0f3a5-ff2e-44b4-8f74-57338f6d922a	998cdc5268cb5606af988eb9f21b970cc9ce24ed103299a7ef7223fe55d3ce91	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdPdoIV7ROLfTQ9ZtEnETQs_AlQ0XDsVY_A24FHhpGgaXS1PuXy5qSku0Lg7Bul6wVGOvJtHqXe1uhuUJuURpz_l-abXlCIi0dJ7knWQ6j60XlfExN2GDlSoDLpqaOCrQwKxaERCl15qxgUD2Y25uo3RQ==
2cd8359f-f527-4845-8d2f-e114b6bbfcc5	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdP_p53D2-kW3_QhMST1zk_LbdV7OXSsoP5BhupjK0KpOt2fP3zRbOj5HLcjZIOzyT_Q0OIUCQ21ZgQXVJyJK5c6ZQVtiw65bQQj1a4TQyr95bvVzqgiiZSqFmADhcGtY-0
52572b96-0c0d-42ac-9ef7-14b8a85304e1	4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAwdPwLX19vLlzNloc14XaXvlIlGXPwyRXBIn5f6XlfqD6lfMJaDEB4YnWNUl_b1E2BlHvmE2yg5TfUZq_851mYPIDT8XDAttIXbcxD8n9od-gX0=
61d5c765-6479-4674-a102-f281ceea7d22	4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAwdP60I4vZHL0VHAOljBJzupg7iOUqeRS7TFydtAZgphN-b2gKo7oCvYbUK3uRtRp4Q3KghR1tkokO1VRi1IE1Ne_pE2bCrHQy5KM149SV-O09Q=
06f39653-b177-4446-9a50-31dca317bd78	4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAwdP5-snzKccni_9tM3ElfTZoD7MO0Y4x-StdYjOZNdgZqqaUcmo3LCuYyMUYMxpIh3vA2F7lTOhuTOttIJEzrvbIrMrgu0yjFv3yeBz0swgnXg=
4d28727f-7a01-48ba-b10b-27ff1a6fe6df	4d522589843e1d656cbd1107c29513829fce78719adc9364dde571eed1882fcc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAwdQLznyBdVC4nwo-smcsXSPuIeWbuFqQ4jn4uTRzzheEnNYjYos1uRQUD34oy8_gMOc2LxYm6yfrT_HA_T1XWpU1xHqIQtuySQT_c7dH6ziK8M=
8b2b2ecf-eea3-4f04-a9d3-e91fcb7a1b29	775fbfc0b984871bac7c542ef7758683af5bf4692503c4ce2a0ed2049b3488b6	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdRahluy1P9HUdg9CyIUYJgNzUH06Urze961rElbySMcDoGcMTSjp6JQk3oBuBu8iA-8Lrw_60I3nMbsRDfzlAin_nZP7DFIglvgyyoRyroCWY=
9e2eb413-792b-46e2-a844-d73c0e72c3c6	ddecec68c4eb770fe3189d937acfbab91e454881e6d69ab8bf34b4b7450daefc	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	6721b315314151b2143d66c4c20f577ccca25b3ad3642ff6c0d2b22781331c24	gAAAAABrAwdRN5vJGixiLhDug95JHX9yeSPFFDgL3J4IU_vnh9eDeCNJtbYp7xsDbXIsG5NgMilMT43RZyqzJBLskRqeABe-BYMHye1T4e49rUGt9V4sfvn6cxFTi1vbcA3U5RT_YlfL
32ee5d43-6b76-4b7b-a9c2-ee891fa9e05b	94a35c66b65b9f7d62bb584c3792d867e1db2bd2e8427f9eab61e22d86ad25e7	d65771d064bcfc7c762aa99df9809d10579d36a74abef62ecdd8fd570e62b05b	5197651443de67203ba1421949e05e502920ece5a3ef594ae61430da53e5ebe9	gAAAAABrAwdRv9SBwcnOFz_cpo_YupZnEPOdROa1qxKrgs4HSHEmlFFSB43433NUfBNiU2JfbZSOsyU8yL9iA_oBAt_4h7T7IavcKUuWuq-9mt6rI-DNWzI=
\.


--
-- Data for Name: operations; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.operations (id, stack_id, parent_operation, parent_resource, round, action, status, reason, inputs, former_inputs, observe, request_id, user_id, user_name, created_at, started_at, finished_at, deadline, owner, epoch, plan, snapshot) FROM stdin;
3f5398ca-98ec-4667-81c8-bd1ea5f89591	1b854873-5344-4048-a754-061b6872bf28	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	53ad36c1-d700-474a-9dd0-041c93fcf63f	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360590.95553	1795360590.9640653	1795360591.3445783	1795364190.95553	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdO29hHUa214PDHo4Y6vuLjuvgKlwYazB2oSNDZJ1HQis8mcli6lBhyk3HZHPKdIjuC-0fdAJbFFX22pcWzMRjJa47KM0XTdJs7IJvwfkCCVoAqgVZQktio0zyp10TvtuhYxT3yDo_zCkEWE1Cc_J1887vjH-XmCkCUIrQRtyJiP-P0FieVgAMwMANQ3Fq2iWEqpNOWAVcGtkXnX1k63L3Z3DrUqRVIyrmMFArz6LJCkHl2QOFM-ERwHaz5OgUmZqGmvmyMw7zvHrMNNLHb3OzgFvnz767UX41RlT2LC-HOefksULPgwuHzCkYrqiadYl2bieqWSAoIXTOXS-459xUZo9jckJLqAmgk6SALh7gmEatNOR9735FVonFzZuWe2W0bhMs2q6maWvpLVg1llQ6CJLfwileTQaYdEegmpEdRVuPPCf6N82Rz-ywRe9tJhBukHPyRLWMEDGVANA7GTmg2S3wOGbTtS0YY5si0uHMTBeuqzU2ZpiKkw1hrlj9yJBRFXcqt1Fuv74PoM8E7uZZ4r9XhEFwx_FyjURUWsdJKJaGDh56XLYDLHKo5mhppKXw7JHwUlZqPASENX15zlFlu4cRHc8teBYJ1jck8UdKAurrndFA99kxRjVfeY_eB5moUPZuTtMmrQ5MULrSru9Xz9RbcK6JPOchlhvo5MmpNWAu-6Z6-ArzLeiqRsHjSnvn87zwfxsTQr0__HHcqYWQ1NzTfnbob6ZxUyKxxA1mdcypNbmK1__UtFgm0lHawPCbsG8Mj5RKjtYVYXo9MGpk9ocE51DtVcV9bT9OjIn6IllghvCpKiLCcXJ8jrfORe8GvsUhfGJaDLPbSKZC01oTisW6TkfYkktB3lMi-1RP0yzrUrw9ADRm9TplsmyPNPUz5MpV8QRCRbAze9ClPNzXV7Z-nugtMeplM8WcwppXLfWZ9clGu2aql4LTd86saeD38VgMQUkYzageafzgXK8fkpE9syCPI3uX79FmoKN49FGzVwFJUXYPschEkY_0IRcLlTHjXgi7STxbINPqKg7C3RiVwyxki1WNkjsy1d-UusEYTEge_kaRdLK-DDY5v1LW-Ks7eBm4r2XqQz0mto2vqwNMSlsJWzbrHOKS1_GhvDxskWCyM_RnFTLQOhWNFD6F91HUXU9toJWxDvgoXG1atGMaszgN7D-gURJahH2aGOxIw8eMdkttmJwXRe18f7jEbAhH1PvTD9oFaXUsI5tNS7-6-PprgFj4ZBBviasJ_tEXA4gA_dx7i4Q1temYAiUs_KcPpyo-UjvGBe6UP4L62yRcN223ZQI4lLnPXtvMCxHWR6yXBdLZWdtD9i_rFUfI8jXsgR7_76YXcUSl5YSe6LbU1s8WFRVGCbF63XN3REiHEdMMPA4XAH1h6u1GUAumuEVgpKLlz70a-oaDlu789rS_UPRqyJj6tChdXy6EYl8nFa_eZ8CtA0w2ykB3fmY8vTGiKQVGjb5WKiru0atWJ0hynHR0XQVJYw_XnGDREFNlFHMrUyKYqCZY-sMs54PStVyzLpsXZvrjkgMxzv4ckrhDff-BqIY3T0_DUGN8SK65kP0RtUfrFkpslnyHnzDuJ3FteNbT_3vpssQA_PRmcv5YDLma7uouxAWZwTmn41tPM1j9mq2HVM_8vydxe_vT4Kw-SIto2EWtucbLSIzuhdGk9D9EnJGtKFWLAA1T4TS1mBVygqQg5JMKlazAAplKPaPGzfAaf7CYkdxoFGntA-Ls_TpqReOtNK8NhXCoyMTbM1jAWam6XG_84ovhOT2K4NGngxe_DuCl0ptTDPfwM24rOKjCCj5nNsW0tHnObXVpkhviEM1xNnYJojsIRyDk6n8wob_jsEd5_GUCjqn_lvIqwFhEyLWDgwx32m8zaK_M7I0B-IuCIYqePT_Z6p4cFNEP6YSd6h6X3rirc4Zt--bHmjdPEqUo0iX2EujEg7RxQ1eZBuVB9CFif8w_OC5hVeK7CSUTY6mym0y6ugCCSdpywVtaf-kp6domkB9GzSspcroxR2RgrAyrhRKxL97UnKDobHpkXlotah8xt7fTPS_QcljemLdAxnKzzTouf9yXZqykpJLMn4V1oarqmMtpJKIL1yQR_3XLpVaFTI0cqMJvonn9KaFHyNq-JpPgLj0gv1pPJywasKoNhJpCxqkGt7n-HoTWk0MDCvZMHvqBji3GNQPKFgkv0Qth0pg3SytTTfICJuCCWlA5RO_K1xaOcB7NRSJ4_EAtD1iaNZ_AKxiarLKzRgIn4zuzeIwaMDPzwHf3lyTVhPAzjJKUDBKS7M2bgZLyECf4xtJnnisFbi__9wAJ0QIt2LQBZC0mL1YDofRW3oq2gRWgdloHznVI-r2bjoAmECeGN6FcsDFnbxdgvrJ_LgTKUhO-PAwIxt7OeA_bjJzMYvwj0DFVYqhh60fJQhQyiORaG1EqQfkATsBUtPRD-ghgtJ-L773pEP89Niemg0t94Z0yapo72LUkfhRNUsktOZmeMcIM8gorXbCBaWcfRRNjRySVbc3STIB15P6XimfxTkMTwp-ZQ3ZeW9pWsfMzRCFGzs37hG7fKBWx1tF_U9LrVWLeLWVcF8jhp6vqnLWEU5vyqv6Fx1XfZiunLErZOU7o855suuyNdUtO3YIaISM875YLek9iBiGfRiBrMa0jGqxAaSJNzras50b8PslqSou_LjGmxcfDopC4a9Onw23HuWMQNgb3t-sQzRDuHEC7Q0do1mO9o5PkWhFfDXeLjFsw9Ed_CxnCFSs2x03CAKhWFlWxBj1nYHJyl4fof0dVWEyh_-UtVwRxL-m_x3HGwuVrlAfCtIFNyTsrTRnl8bW8o2rK-blsVqTQxG8DWofYWSb4y4PPK7vYt8Mi_cn39NU0sg5AWQYmepXUNa2A1LwlB8IIgrrZEEhW3zAvggVoATq7T8RDwTGofyoHkkmxGUms47tXjWNfycO-o8Z7QWi0EyiGeyqZcHF4z9JAp28HBcFOJCN65xOVv5ILy3Pk3tnP5ZrHolTyDtQzQFGc0y2_ZbwqqDhRH51FygqpAlBv2tQYpCK1hK_3pcVMqPhm3dSNTy7peIFhVpSTm32pfC8mCK44S3_Kdyk_oJYKf6C2-5WZfQ6n8IFACQW89_ljblh8cvegu2VlV20FJMRdug4kTuUaqOaghgUaQM106P_4fE6WOq7U1pbRbckvNBy2l3BjlqDsXrhRr4g10FQStoYTYv-05xEcLZDmI2oX7OK2kKEcSqPgVwmn7JtEdhv8VVhYwZrx39ktD7aU9RRfRUTa7PyVHiOWHoRteunZQwaFgdorGm_ielgkX1hox5E7Qk6oaSvBe9NNemSQ9-tOkU6kG8GNNDGxDZQsqWihUmVDzjdelnbavco5e3cYPFUBauWR0y0EM30uRIxBl7jpIIoRBoTLivaDJiIimw5ZNspZ01Wsf3tIF3T92KfowR5xwBKdEjYKdCYNWosJ8tykdlCvaZ_HP3JdpVtnYCW9XeBaoXz9cHhg2usdxFTDelnR7bkROcgOpRqxyKI6ICwkahCQQNq2YilIgjgo4fz8rj7cTUEzux7s-pXKat1za1DN-R2xAYAJI_zE2ivfXL4J4nPkJ-qW5K8uzL7baOjvqXqKLFs6jnEll5gokacobOYo51OImAqNxrHGuAWesPq76LDRzUlxnBeBZRh_v0D2XAamoURW6eozYeDdbXxIcRpFcNkQCp6k3li5KUs72cg54tcydDJusZEak8EKqMy1gWWD6A7OisPPamtP0R3pqHRnPJHDmipM217CimPBo3CRhx-PhddBG6Cc4qADLertRHsA-AXZ_3_IHMYJX0GLTBhqGwb-uz7KROlYRPqiDt1CE5wrQNeMRWB9QY6XZ1K4h0se46sKATgBuEz-ZiHiDZzvV4FZzNSTnD0XYFMO6ErXVv7SwVzi3LZv-Vb20g9rkarYw2TRZXa_bXw_ZPNkFtRrfDfhnaHtfirMJL8XHI7y3VqA9YdRQp2LydZczDLpsttuzgSAFPrriVVXw6iCD8uPtUYfDwPXpBm0H3dnSg5kkTvamS1KF19WG0sQjld3EVl3s9CSwtRPPDPjrCL2qyZ3KKb0nxTWg97TagJ_tIbg984HlPv97lfZ3Vct1zjoGjZK7ewNx6sBUGfTwZIB35J5VG_ZlDh4xkPW4Dhuc914Eh1jAxacYgImeeYW0YpkjaXRA5LGBBMqjsIwJI19dfR302l27K2l1c-uBwSn9g6Q8tSxxiuD9htyoKGiw3ikwLruKCZ9iDFbAN9Ctu_cjONpc9F6jDi7XP9S5WPg9QwHX7Sr7zIa7cdqBjg8ChjmmEM6jzrAB-mjGuvZ89tQQeNQyWPGEm8LRo79yraTxGK_2xJrHCuyHANd0p0ztWP517earpQEr2uTXL-_-3azZi5BdPOD3ddKT6-tE3NhqYjePeuGya7SuFu7TlztKn9kHYALcDoo72fSFSyMk7ib85xvAMmR3HXJJHhHYF9RvQV2dkzYVIm5NTvKx0Ldzn1liOXLpKFCSb_lOhDR9rjMRtGm4WuXX_xD9hiwtLN__g6s3PjIvTaFhBfbQzJTbFZLBjiCovgtlEEodzmAWApx0JKgC8XTXEunX3tuvwcBF9JaxXQDDaWge0uqjUP1HJR9jjAgBbwjjvA6QXhbX7WSZMsbdtTrbJF3-TL-L5SMJ6bi7RW4p2hSXZoiRyC6jDW3m4aUhNPxitiVWNTynOgaattAC_Go7crSLaWs1RtVaEv3JzVgDsDHas5uHnSrqKb7U6FvFxF5bxLNNgYA7oTQrRYEe3jrmeVTT-VnsOStbrVpmcSNwF52PWJnUZp_UWATSEHJIbClyAV7MuIfNx5Zae8EZ7QVg2A1v7-Q-ljnoBRFZ_IcvVhltBbfh5Wfyq2N221-sg292qR_RNKlhKBVsYrmpBrXKfOeh9drJvow-93suDbtYcASG64qkHEL7yLxyOKgC8GoeMGm3L7TfgNv_LFa_zP1lsRgmy3vGPvQc5ZSBQt2kT3oHP7IgI7cKOTObk3ISy9TZXeyFI66h9_7edK07JfdbBRU2A8ualIzBaTU0nSvlIYxzSg4Vg_pVbnALiJrPHPXQzm9MUOfzW4O6QWm6_MHoanQ_7jJItTW6rUxgDb5xvkGcVrgl2QFGpoHjSlIu9o4SPiyIAY7xAIal_v0VIodnXMiSeQuZVhNooV6DNAZ3eEoQaReOlpM=	\N
3509df0b-7643-4425-a9d9-316de17cce45	ed3f0580-3cae-49f2-890d-c773b54f7bcc	3f5398ca-98ec-4667-81c8-bd1ea5f89591	93fd3c46-de7a-4a72-b362-06a455fe8930	0	CREATE	COMPLETE	Stack CREATE completed successfully	9597d633-40d9-4c9f-851a-d792670d2f22	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360590.9950194	1795360590.9950523	1795360591.2842724	1795364190.95553	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdP81lVT7Lfw__2l1MUNGO6GrfeVPB7oUEPwUAMlVecRF2H9kbnVCxfwPoSqvvu1M5_No7VjqQBjWkMZzW9_7DJRufMxUj8G2JJnXLqq9KrNyKxd57NfKNxgN8SE6c4y12A-WOenwVLe5N9W6Ku7axEBQG_Ar1tXH1rB758DmMSZq1kf5_705rPUE25GE6rjYixjyFmLBGdFDCepEzdcoJbGHVa-5IMx7HsSmaZjPrDrr9xne5qnOvgd2Q6TTJB7SCD4BlbFx2ub9D3cFJRFRqbw43weve4QZ5Eg8n5t_uQDvQ_8N71yg7OBATq_rcvndGmZqR2eZCcv5Egpdw29UKDAbd5ozBdXGbaJZiNO4bIXnI5MlekdlIurZBW_BKiCMbqDst70aixlgW41PpJhWKf71JNs3mrXECYMh2Kcq0ELtBqQFHVJl_3OeovYzOWmiRLwI7oYIPILNcBhvqGp_Kt2nky_fe3L5XSK0Sk0PPUe209vxUglqtvYFWBrkKhXYHIVy8NfdR8mPPdvcz5fBMGyleJNThH5xGeiZJwt0VD8WiwTh6RNtIFKRh0e7y_8R_ITTw3ByxCmmqOXZS4bSOja5jr4DotVejYRO9n0Y-AkA7iVF6NQl0EuU4DmzFlDDmfhxHGSRWQ9F4L_oY0CRI7vEmINjMWlcOAoYp4SYMTwcNJy70FHQNqTIenDUkk2IEgyiDYaQuWkVc-87HduELMmj7F2wnqiiTZti3FaStKUiqLpVymvUF0mfG3v49KXwCto9bVMsgREusUt4f_f7fnNK2u60MTy3ryA3qQOYANk3B3TQa7hNbwgfkmdedUdSevid0iHKEnPdeyNdowh0k0-A==	\N
7f474e19-32b0-4cf4-b59a-5cd649e7a5e9	f2128038-ffa6-4e06-a615-6318b01f7556	3f5398ca-98ec-4667-81c8-bd1ea5f89591	1871fb52-2671-4338-90ad-3805c98063bb	0	CREATE	COMPLETE	Stack CREATE completed successfully	1572d26b-a903-4c4b-a76b-f936e0129d1b	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360590.9994512	1795360590.9994795	1795360591.314955	1795364190.95553	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdPuWYpK-NeTYmom0nWF1MqwQ8xdRqsJJ27L6D5vmK_cfLMsRF-tCIHyXWeMTpRT3LLtiS4tT7yv3-MhbANwy7jXpIfwmUYrH40wQk4OjaRmptg-tDw1baqdyBtTLmgt2Htr_vo8IX4q5dy8Xiq02nu0hgYaSCYsucT9c99OC8WIzDvQhBx4g690ulqWZh68NadiqhUua8pYpfeXoSRfv6SEzRed_bToM8pMfSFHu1htv4rm7EG3Fjl0KNlydR_U9RJ9JnwvhyhuLyVYpU8MYDlBcaprm0X29OTPegA-0RMmBFM4kKiGkJbRYHqmWSHDE8OiBbo7eeGY9kxK9Jc89z5I8flq0Xpn3yndJS5urDGUmJTV70MlD0-2g1EgFkGuMZxL9f633BGLa1VJQuGfFSD08CLlxKBmJpY2xs4cZjoHhxYNL24FJj7Ql0M7AkErPvTlOq_iCPsRcOFDGZZBYx4bOh5BvH0ueNjcr7SzUVBNo_c6ioy_cT-O9ZJXXVMjJsWIV8r3X3d7-dVrE5FNnBb-r0R5E9ZLprniG62h9zJdrOE_5S1IsBWgr-i1KOJuvvgtITffA3dr46VgJIOxJhsXEE97_9rXeuU09Z02ihkiUTByILicft6MKHYC1hD_KqyMS4Bndsbo0reBZd8cu7330LpGOJVUP5yd2dbEK4llPaoi4Yzu2tId59csmqmiLVETuIomAr90SdZrzZFDIRWu-B4c23eEMUvHxFngF3HNAlsaBYu6pZL38DXO_j78XQU0lfcsVX_s6vVj1NcuRSZmsQDP2vCom4gZhI95_jVy4zuRXseZpSqeEQ-ZcZQzO6-	\N
ad175021-540f-4445-a01c-3461c6752f19	1f0ff24c-3807-4f5c-9239-828f57657cd6	7f474e19-32b0-4cf4-b59a-5cd649e7a5e9	fd12336d-cc40-4020-afae-597aba2112fd	0	CREATE	COMPLETE	Stack CREATE completed successfully	c571db28-1e78-453e-b594-3b80eba84103	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360591.0224552	1795360591.0224848	1795360591.3110197	1795364190.95553	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdPEpr6Whncs3E3aS0wMSU0zltE3qNgqsBmdiFEN9prosEFCctr3x0rZlUWD8t-1N0xRiugvPdlszEmg7ik724IclGZSQW4xTRyo4pjAjND_Wr7DHkJEXK6jVnMkNEOIh5mKDx0xcb1mssJa2-QWhsAQNuDnIrORCIFyafhNotG-TUk4E23-lgvQWAn47wvqifvufRnyJaMz7euQxHDQvHqj6sxIrI0PUNYmr5JZvW0edpgHVt_qIxtHGqIVivXIrBE9-QosM_k6QkH1IU3De6MJkWoTZw_zBvn5Lwkgh3ao0LQw6YMwLBJ8ZFczTnmxvuOFD1ZH6_J7RTB4DqZj-nK_Hvtlcp9fwhpWbeAU91IRBJOuxfPpVGw2jpfUC0-82RZVq2nlGO8FJ6PNibegsqWTXJT82hi15m7rRM3pEc3Gy8WWG1dqo-PSEVNqoYjun3JD3g-agWMJ9QMakUY7XPecdRTViL8Q6QAX3H2SLQ1cfetpmWncfoGtf-EGCFgURbzXVkql1bcwxHc4YF4B_PwmS02ylYjJxU4HZ-_UjvI3YwxPxZy7Nxskc2bkRyE7aVz0FKJ8oJs-4tlkJZo2o3tkIzkcsAnl9YyIwGTEg8Muz7syEAv7Xj5VSU6DdexZKPH2czKHbkfjVeaOykcQzKuYii48hfIaIsfW5OTYnrzz2S_Fb4RrDbxdKJnBdcTm1oNMmzIg5c9RcqOVVP2z6pA96ncsf6gbb8l4BFETBYzLxrL7eVvyUAm2nGdZAW7ExJBo75O_t9zeEbtThInyPrU--0zYiyXD0zoYupwbJJNDtUVJR443ucBbwi6b_B56wGrArbMJ9Tc1wnTvEb45CIzoQ==	\N
5966fcea-f0c2-4871-9636-5285e6078f14	6beaa425-a9b2-4292-95d4-806295a740ac	7f474e19-32b0-4cf4-b59a-5cd649e7a5e9	c2ac133c-51df-4c5e-ba0f-1944a3048009	0	CREATE	COMPLETE	Stack CREATE completed successfully	926b3011-8446-4ce7-b07b-2df1790d824f	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360591.0233455	1795360591.0233717	1795360591.310521	1795364190.95553	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdPmi4Qmn_cmyR4njy9DF67P3VrWUDLv6lAQs_b2jBZvXKnT_JwUQ76fD34HzUcfz5hjqzTdJFFbbKTIqIo-vWarjPSmZ-fNW_6P79IW8DoLXXlASu6Tp4r266h57LJVjSDyQE0vugvf4MkIEF0eqnf_n8vKrYqsC9EfZx6CET6LoDzibiqK0jVOfvIfwQR2xlzy-3AsJ6wo4xau3AAlGb8rHGe8NePl8uFJLufpqhu_D5pL50_2jwXhiQ5TnDeXOphZngnGyy9a5XQMKswyclXPQc1lD696oCjXzibhhlvBSVtFDov6ECNBv8and-jphlL3RQXiazwI0CJG9ugqV91qEKLz4QBWKDvLGcIYakd7TkZe_9ay0WAYo6MCgYxb-oXw63y084VhPortvcRkAM0AAv1JX90_F5ke-NoXAjcuPuzCuZHSfdejbtMyzO2NDQMeJiFATmjNlBdD05iDGtcgDQ9l8k6fQ1winGR1F_m9f-OaICDJeTAyzms6-OBjCyy1Mx0iqtcGGKqDnOXKR0cp2s2WQpXiBqvZS50mqlGeB0t5WiKAIFMoVhn2IcSHikmmuCwQBw7ABpxXLtj1ncXbPvFuGN7Zt8kI1Mp6QzG-cY772wnB86KHO_v9Q6ocZ72xRmobadixem20TpbYG8c29xyE-UmysFBJVHJzY2y75h0Ztl4YOlavka98gKB-OgyPFX1cS1QUalJTHcb9aK0nROemuR3yIcoQ8bs81sYfhQp0gWBV06OFLmM4aL7o1gCEwP0tAYNzA36h5i95kWy6ZbgvKE3buIhVYIz2-nSbhWaeSFloPrtB_T804APtNMDhZdrzcGHhx6xF__hNv_C-A==	\N
1356d9aa-70bf-41ba-80ce-0618a71d5471	1b854873-5344-4048-a754-061b6872bf28	\N	\N	0	UPDATE	COMPLETE	Stack UPDATE completed successfully	96c0f3a5-ff2e-44b4-8f74-57338f6d922a	53ad36c1-d700-474a-9dd0-041c93fcf63f	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360591.3575096	1795360591.3575816	1795360591.3844464	1795364191.3575096	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdPle_y374CKEGEevJsboXTw-OslxOuBRoDTJZtNpD5eVLb1OlGyIL3xFZhYvckEoVEGWwhjZCY4e590Px3bi0_fd04ieaztNyY2IODdIr2jB5A6dJyErSNplZGnXcX8S7VpfpvA1SbAqz8uekTbc2yXlPTu8SXnc7lGbFEMmvIIqrDuR4ZyhExlnP_OYLIGydl9_2_3j_POpz9FeCuIKjhCyRHf6KF16iWf1kV8HQEk3JRAnoO3F62YW2OnWZgFSFdmBA6eAIOGzXXVedPLamcvLJtYGjGiVkHpuYbNymVG_pjSR0bX0ej3WJWTXRvYBWK_How0F2Cqg9DRwg2XxdfYRDLMaQygIBXgkwp6dLHmntfH_t4HCDnshT8AceK5YecRIzIrkcDGf4aIQ6X7dwylUg46ao3pX1jNhaiDyaPx4qifqmeBAoo4ZCjSXiD0MxsWRrOiCjhgL4uvXFYKHsPyFBhUBICy8JX8Or_eSbKiMO1MXNGNNweca7B_Mby0gTQ	\N
6440e817-a62b-4e67-bd68-36f60bf2e16f	ed3f0580-3cae-49f2-890d-c773b54f7bcc	1356d9aa-70bf-41ba-80ce-0618a71d5471	93fd3c46-de7a-4a72-b362-06a455fe8930	0	UPDATE	COMPLETE	Stack UPDATE completed successfully	2cd8359f-f527-4845-8d2f-e114b6bbfcc5	9597d633-40d9-4c9f-851a-d792670d2f22	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360591.3688056	1795360591.3688343	1795360591.378646	1795364191.3575096	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdP35nLO0o4T7ZYj0799vRyJsFyJa7bDov3PQoqY6BkE4eqJYHRwtgAjh2YxiELz7fWmCmb1ptvIqhxQH-3NmV8iG3bUAsT-oN6Nbes9odTvpJpNfNnbkaa-6aDT8HeXWAFAeKs9FIqZPPshumMzo1r44NI0XdN9ui2HzuOnPy7bLjFMpTuJaFLAPHuIDeDuV7Esu2x4C2abvi6DyE2Tlfsc4eRwvFYtpMMXndg3r7Wj8gKYxekKcw_C2x-Rzq3hlUs1-MNt3ZabvH77W9rnvOxFamOX1XxyY7Sg5ScGaqdWHm0gGHH2oyr7emEf8XmxsdWPosRyFF1xJ4UZqavs8HZkLMtbptzoYFDxsKHia0VeZXwymaCbbiOpQdgc_i8IEx3GBq4cslPlrc6eCpFBAziTMWwk3oAeMK21S7IILEiaN3pgjNg3498fH3RuVPgQTKAdQG7AQt4sqa6xxhTAAYW6fAV3hPe6e0GnuNTYjK9ceAaHvVy7YnNj8hm-B1AJVuT	\N
2649ebf6-e4fd-46dd-8a63-c08e5362133a	f8046dc2-764f-47be-81d2-00a16966048f	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	52572b96-0c0d-42ac-9ef7-14b8a85304e1	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360591.391112	1795360591.3915684	1795360591.6558244	1795364191.391112	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdPEPAvX-HhVRrBy5-TskbQWeHvixCED9C_uAZsjJVs1lcGdTdAUyzHnbdPqjVYq0sVorINeciogxdaYXvR7ZrN6U09aorvQzC2I4Urul803mnkbjRJeS0k2P1gITug8_RKWjPAQECBkyYdOGvuYDC6l0wZMyO6E08SiI_fAdTRxLGOdpp48CAR7sWPTS8b2HmICYygB3zCytSd2WrsYFA0IrprBbzTIMM2aQ03G9RUsb-IYQnstewwl7YUI_v_RsavTwtW5uq9r9JXoYbdC72kXyBU7m3QOSzz6YZN_f7GRAit4jfxBUoCiX81oPHzcxmOjanVEMmoSq5Wgfa6ShAzcsy77dqQQEf5RMZqM7izTofdNTxKSwHxr3eEQFpdhv9oIu808VG-uMj8JI4U-INRF3HbxiUq-kgmvGRKMk3E-JNKujqB8-Z5VyHbTCZ6OZCwTE-uonDZTnVMQqiXEBKYFlgDFJFrq42CAvCcQm0-C0uK0WUCRU-KbaFfN9C8stoOyZJzXR_6hKM_UGRVb3uxq14NXionUSrZY5fteRARcxdejqMO2aBY1e4t_2yGKHatpMZZBZmOPRqqHIuw8E8Ib-lSb9p3DGYdxRT_8LgwD2_M0llsZt7ichtccW6ZNtNTvlL-XsEf_5xCtt2W36HiI_CQDkgXYwB4q_rxkNbP0Nf2a0ie7H8VpDadSVlyACpW	\N
c612bcc9-7604-4c1e-b9ca-89b92b327e20	23714fd9-0b7d-4e67-9990-4f23701dc7ed	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	61d5c765-6479-4674-a102-f281ceea7d22	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360591.6603177	1795360591.660822	1795360591.9266882	1795364191.6603177	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdPt2YreFLC_i9fUMpKEc2o76isXqaK-J91FocVNvvmtEMCg4CuJvJqfIBGzZjcwB-CWZPgUcaq1NCHNVskIxV66biXs_73gDao_1ZLFLV7Ki5oP_rZfOWu30Z8cRsneZOkFjIGxm0YXtSSGYXMU8iWm_GF0eKcL8kPGEH7abmuTGmRQzBnw93yMxC6OA8ctxLiFhGxqb_trh7gnl84Y_sMVCI8eJo4p5nzH_EER71kyxW-5UnufcQhFLJI79JKmGY1jSEmbCGqInCohfjKahI1vD1kWj6V2DRk16YTpZwnlVfk30upiwdY1BhmIFgcGaDfcMzS2KxjoNfEKlHyRBuG1ODvG5nR-cqo0R0vL0xaXOwkzgbFy1BTd7jQpXmyNREKNprhNlle7kwu9ju82cSphxvnQ2HBzivEd_zNvWtyPgZqzFuZt7_1BuKS2RkcEYgS5YHzjlgaWB53YlpbK5_e7CLlU5Iw8OHR_ZWJLN9y-985HkQLzUIXsP-IFuK3og8FYIh4MfAWYYXa8vjvHH3FfME-gVsyG46nKBpUrIuwe6CDzP-_nDozf-DzYeGS9rHcDhjJ4X9FPCb2eGvhPhDG1ZithidBD6R_cBwtnFfswTN3ngYBX8VX6xOd_d712NtH4fXa--u8RULbEtmUQuQt9ewqC8LzhalHH1MsAg6mowOFo2YbhzJYyfX7H8HXiJ_U	\N
ff9c047c-45bc-4b70-b52d-3784fd2a2015	ed29fb82-2288-4e5d-993b-02bf1421bfb5	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	06f39653-b177-4446-9a50-31dca317bd78	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360591.934439	1795360591.9348629	1795360592.2026193	1795364191.934439	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdPrxEml0GMzsgeYwqrJ4QqyjOe9J3AwePLluiMR2RcqSogQ6-nhQqTa9bOG5mDYQFc9iXw_C3Vvno3qnnpTwV2zxGv-e9vyAkfpoH4EOwaVTUapyM6mBPwB8L39RI0Qdm4PpRziegiekcxJJIbaSMNy5Z62ARO-UUvb9yD5BHwhuTidEucMoVu0ZotPqZkgp2jnSHbx4JtPI6lmhpIQd6s2SLa0fu3NkKYXtlfFMF9ZcVzo39Y1kNcGFH-JG9kzjN1fxrt3OHYsyhrKPnQRhBkyZrkUyh6qhpCWuVtn2NEmYzsw-7p_cklUqTbBBzjctNgd0ZNZYtsaxh_AwgzL996hWTr2xYYSx-T4DNanzpY0c2WWARyjBbwbN6_jb-rbjjXIGTBU9Wg7ELs5jpDJ7OzgyeJPZVynsDxG_glbOChAlJzXx0SChfGUMwOL4irfr4Ocl8HNogb8PHwkriEusP_5slmjTM-WY7vGn1uGydGLPYw2mH4MdpnpyZ8AG62Be5qIhBb2c9uT24hibbP2QV-QkeZoVBLzBseikd9FwgG2BBko_uvHm5gHBHn0uLgEGNRsbyIn2iUD-AGF0NxNkPQb26KROuIEgkoa-i9CPR6u3tV-Ck8hK7ImlchWKTVG31woK56aI_MQ7KnaQK8zj_PYurUiZAm50tLnWrvMXHxNQ3W16RFq1Md_X7_Px35_Bz1	\N
76cce840-6608-4973-a076-df3f7bd58e53	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	\N	\N	0	CREATE	COMPLETE	Stack CREATE completed successfully	4d28727f-7a01-48ba-b10b-27ff1a6fe6df	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360592.2069888	1795360592.2074726	1795360592.4713547	1795364192.2069888	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdQ7HSeQpxHbD-a_Sbl9lE2HopVC2_iYk6e2RB8Uur2ZjsQZ5U6C9IULjIlwEQqtMWfU-PCH9bqsarvPaW6SMGY_-rIZpDBdWxsgNUclSA8zBGVISM2yfjdKokRVagw0_BXaBXJELiwOEvy4DVGebwNZoMPy5kacJqXs_zBKMuFji5RSsWoO9vLZczWwvZVEhYw_pLP3DSsLKa0YEJWR1YaNw2CMElXO2XKBy--aIfcF3MrXHOzlF8TPV7ccqPJcorkPV_8AcX_yY4jiXxghF9Vg3iWT8iEhav2iWYLzBymdhzcmjL6oxBs5aBPK4cO7_IE8vmq_1N_WgWEsGqX1us7RBrB5JAm94SyhFQeXiG-HRLbeymxqxEGOMN3ezOVyfNF6JEGWSgRWxfVdpmu97UqCSHUkdP0qtDHKwlZPk4xWnd7JR3_3wruTZC0x68WXA9fMV0GtCfxMIRvUX0-vLBCZoy_-saD1XNnYimU33q2HnU_y5QWAABwfb9Dgn9ZmW2SPeMpZL-VTNLTnSCRNSrhx9A8KAQJN9H0XSQsWYjrKjVLO2igE0oQgFHGFNxJ4y7m69EoieksduGzZIH4VGE2V95B6i8dheIbHKdp9Wc5IORq1X6W5AAWR-pL9xRTZdc_ahCcBMD8xLugiNnRDAz7MKhBDXq-yWcvUSSvcfLftEmGN9n9gNBwssBydcRw3vr0	\N
7eed6848-9933-4076-b751-1d31e4ffe1f1	ed29fb82-2288-4e5d-993b-02bf1421bfb5	\N	\N	0	SNAPSHOT	COMPLETE	Stack SNAPSHOT completed successfully	06f39653-b177-4446-9a50-31dca317bd78	06f39653-b177-4446-9a50-31dca317bd78	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360592.4754076	1795360592.475487	1795360592.7474287	1795364192.4754076	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdQoR2WF27GxpwvYxsejqb6c1_Jahbw_nBYXwj8IvDY2fXSOQb_crXPWLJxwv8ztx0PHd4Ju909C01tr3RLtduTfNKUdEGVwUtDAt1HhgHvbj0dItsILry6935i-zsOe8FSpQX-27j4FjilRH2H4DVCT95h11rugc49L0jcPAozfTPcvWwbCX269EJOD0AINyaASpnZsvyu3KKYwk9icZgdqCXaYHSNZW-VfOj-o8P7F53SeFwbGgYq06sEXGSPsQfF-6AQGawU2fCNSJU1vfUCsK9jzkQmnSmR5wYNicJMduP9Ukv5-kCNP6VwrZcSXwIrSzNCx7oThEYtxw2ApqBQOr3ZNOYJ1unKFWaCdaC7hHI1N9YBKNH_uahlNd99f1Td4I5cBpLTTQIzL9mqYJrIk4hPGwSi5EHnjtaB9JSl70RCOJBxVztrFeW9tTnizTmg5UCl4lYQ2VhyXOuYqEdkrCi5TadntAHXgiWwpdFIyT9uxhbAXyY4S4AwXqJKwQE-IKa2nQuCWMeOAjVcURInbA==	d5a57d01-13b6-46dd-87c4-93a94e82d878
bd7239ff-8bd6-49c0-aa50-deb0d9c3debb	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	\N	\N	0	DELETE	COMPLETE	Stack DELETE completed successfully	4d28727f-7a01-48ba-b10b-27ff1a6fe6df	4d28727f-7a01-48ba-b10b-27ff1a6fe6df	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360592.7516165	1795360592.7517	1795360593.0199802	1795364192.7516165	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdQCSUjcoSMk5pa2ECTjHc10XIYig-WfPNKETJ0DLtZ3UzQhmSS0jYCp8NYp1SWRlfS6UE3m9OutbhFvVB3IJI_oIbV3jyBsBY0mMSEH20Ga3eb7xvfBeXYlCxS8SMS8wB6lT7A0oTpKqvo4rVVb7oUjhjZskS63lwWkdqHLQaMWiwIKMMIlELd9MDcL7sxyguhKwt-gkeaV6mYdDFFRKN7GUfD4x1gPr1EyFXccRJSaclCCfLMA1fg-xdYELdFCe1jfodqDQWxuc6yILOVN4gqsrlBLKoBht7VW3J8mJhfAMqL_9VUtP6FRvH4Jl14Z84oo6fDU1RGQ17OBOwu_G9aZRXb9eV6gCrL4hDDzzvxM0IVfBhiZOuiFWMBGnAMbbseSuotTKemuE3LuPdjVHHxl6e5PNe1cHXOZToPegXesARywOP4X8VQn4LABR1PAfR34HMzjQOPxxWubmCttx2YWUg4EMA2TEBKoC4sQyuQ2gQxFNC4nEjtn5KnzE3eP3UaO5PfzzfcbXfgAR1oNxneFtQYrdZ6Thj-mO7lCJ2zH9CfRtn7rWcOz9IUs5v85vO3uYD6Fsbd5zEcj1XzpcMQojsTLnehV_JpR6kzhwN4nHQ=	\N
c64866e9-b022-4cef-9a03-e6c20b411deb	47720cdf-97cf-48a3-9544-c8fcc71afe08	\N	\N	0	CREATE	RUNNING		8b2b2ecf-eea3-4f04-a9d3-e91fcb7a1b29	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360593.0290718	1795360593.0295227	\N	1795364193.0290718	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdRXWgDfEvulw7xpCWPdT66gk5nb9yCX9W14g1ytC-kpWCmu1mdyU04hd0cteIlTGusF30YtQCcrQDd55Ep1Tcj4m3DIDTVZrGny_xvhAL-cDHkLxPSMYxmykHRfeeI44nP-eraYLLuX_1i4nH4_DGIXqkLbS1fsitJwB0roIRdjizkGe5becZzZE5GGHb3rk80tohPmnCkEscijc3aBbhF__O4M-iXtPTOCuCDzoPYAov48nEaYl1ET6X5mGBt3p8RwsUl7fAm2dVANocqFCgeBqaHc9-n0pJ5E-3munjD9R1zIpS7Qx9PGL1dL5nE1LKQw6_ohEeSkK3qhMLOwT_ZOqK1WV0mRofWP4PvkU5jz5qWmrKt0OzRNZ79z8Ubv_qYGU7QKKu8rIqKLADPN3P6367Yd78IPxCDT5Zn9sMi2KrWgmpabAZO4C_vjWfbUZDGRRQcOLJlA3LW-MLV1sFufCgNkggWI_6eU-MGNGIYdfSu9GVO_StRIyxRFJ4o36ivRjVyP-_hHQbWjMMQVOXw0v0D_utdmJxGbRedcyGXqq2uYMwqNIIaz2Z9B399qdTBwf2D2XjXpvge95vvdQ32B7Btw9jzaWzdyqd4lJVvt4wlwHUAKYDTkLaW94qtHd0yW65IAYJ8GbFyyQCIgR-6vNjw6T-c3b0qx5FZexH1bDtdtJM_X1LWa7-J_wRVwaiqixKXWdzBxI0VLMeEqN7intputt2-pbQFx3iykwEJaos=	\N
c789de32-d7b6-4530-87d4-3e7a6a5bf100	9ab5a3c1-1a5d-482b-ade5-cc381330575d	c64866e9-b022-4cef-9a03-e6c20b411deb	1436ae8a-ca6f-45be-878b-d535d61aa1f4	0	CREATE	RUNNING		9e2eb413-792b-46e2-a844-d73c0e72c3c6	\N	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360593.037234	1795360593.0372496	\N	1795364193.0290718	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdRLyF7hLLr5ketxs_0vBwPgfdK7zKOzVYzYmAxX2W1lBSBaaObEsd-eWFVo1ACHv6owZm7AmfoElVGIGst6hjVfb8G1el5NC7Cl0BWzFVLd3sQQU-TG2I7ThO_sOhevijG7mgrS2q2SAJhkPFoRaSph6S5pzvhfNDiZiXfDTRDAFOpqvtAsiJNf29OPADitpMhHD_MSFimDuyi5M23FRZzU_oqIxcFloaVESXmuKAwLOMNUUOGwd3wrdiQENOJZ0EbL3Ar-rlOGbJJjz5tooY_d3XwXxWRNl6XOJSN23xpXGNDHzqGzOLnS1AJXKCd2AOesIdKZ6UMLhPdwm0MxdU9lmDOLHHL6wcTAyTVYm7CPaHNxHV0alg-Wf2bkK5rns6X-ql2-qQb2958E0XdTcZT6f4JHG7VAv3jDU0jlcDx5tROlBe0ltIXBuZ3UgpYPwT7qIcanitX9apu_S2wJO6i_ORl_CFzljIX52zbzqTV0qY84zBKahlIBY0hvvMbkzC85LUC8IbrQs7Qu47v_qqITuUtfir97PB3ZQRluFQWMlPpe7aWaZVzKBNqBK3jUokfZupDBZcsrbkdajClBcet-gkk5Z6HjaYlqhzoKxhkIpnJ219FSLpTvveaqFFiSiDZV2wYl0v2VzPMBpxD2RLBscTnvf1EUYaa8eVrT_2FICCL1DbNo9Etjm00ePvMEr0wNE6NEupFruPcphfIyBvC6Mz4jhs3bEaQPtS2Mqqd0H9Jjfb8pUq2oq4pbqrtFsF9bAfehh13VYJkSDxI3QTnno9yRBSgYDyH27BrhTb3BLnzdi-SdtboQbJ_w_CEGuYdN4WgPYouZDgwVHzSHLJKfQ==	\N
bccc5c03-b349-4bc8-9c09-61de0667a621	f8046dc2-764f-47be-81d2-00a16966048f	\N	\N	0	UPDATE	RUNNING		32ee5d43-6b76-4b7b-a9c2-ee891fa9e05b	52572b96-0c0d-42ac-9ef7-14b8a85304e1	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360593.0373533	1795360593.0374162	\N	1795364193.0373533	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdR4-eCOpmGpidX6RsVwDwudZ86Fj-oCrO_b7qUlkbHJfYrvFQz8xFVYszua-yr_8r8eBZVg1XMFxVwThwX0w1NP4QaNivqDtCV8oKNCore-oMeeGpSpChjXE5jOY12eLDSC7CXSkaDQxo3U36qTHS-AslGoF0bExNs8mi83NdAyzzbNXALUAg9FXFwozcGi3i56nQXKzVCK7ooKhPGf4jUbIW-J-MaFDPgqX5Ol9QhEudWLpMLhTWUlpy_vhUiioUc8k-_mosAliHk_4wyzN-2KpRH80NZvofMKWZNQNKHC2GrJjRptpyFo9NDpuCHTAuugDNyKcMFk27AkrDgQruzMpRQ5bT6BKj8swCFRBh-FTw9x5EvG4e38WHY3dTGcNMotPoP1Tjn8aSbfVolmMeJl-VEFvINndCnaS7LiMwTygCrWv7p9eelNhudlVLt2v_v8goWPT8c4sHWYyTGJ4Sx4KihE7WZ4aFxtI739htw6d2jYx1rtzGUNEYv5CcMVDXUJPGs1T5nwBSQ0tl95Ogp2bua210p04BBtr67xx61c8eI7bAfDxz1cRrFSfff-_Cckuagvc0vmDFe565wefibwjNB8IDFQGlcU0ygc3fZPMYzCR3Qs3n0UnF1OCAoCUMWtDD12vLl4SzvssRA-dj_BxoZgmHgb9RYK7o1eMH-LxkJNCxIGPSaAkQdQpnYVw0T1kyodMKOpz3DX9ZadCOmHyuUV6cWLW7SyfNYv-Sh-lddgUN-GpdPEQ3taeEy-wKyEzLSBj2HUiI7NTY9vSdrKWMTH3cJbsxYaWaa28i7Oi-Dw3q9IgjR5xPF-eXFo6cxyBWWc96xtrvS3BXQblLd-PbEw2mNrjASigwH-5jSbV94U55vKteAWwfNSEpSnez_w2JQ6zSBSTJ6gb2ye15BD4f9ifZpITYWWhMpXjH1DlmM5RdrGI5t8mPfqd_vFVIyF9tJTJ-wp0N0ESNVBw2KzlpAtYKig4CoH3rcCuP6c8HuaJi8ij7x-UKcJjETGGGJ-hqPhAhceZd_rAQ7RqJLDkHTRejaW-fn9prPWIo4Wqi8JhEgjb5-EgCYI0yaDWJcPqF8Dl55SVcSH7gg5LpFpTKZO7UvtrTfsOpQ4GM_jXLIYNj_X_Pr-cWgz_U3eWCuLPttPfqw1y5Xi98uTGoVFSMDYSmj1hce5wq_PZA-0cn2U3zw4Bn-f_T-4mAf0IWUhkDpiXHjIy1uC1oTUerFOOPIYYmukfjcbM1nrP-agkHfX-TcHebj7GhNkz6kUSw4Y0ID6KUio8IeTLE0pVGWvkqDIwHlLSVpRE5VBKgP_oDfw7xr1HByCKz1G0P-b9AJXD62t3J8RLjRwl1NiH31IswkSbCG9zN14SFABQxcATmkg-IT0g661VHo-BVibVnAmR1he4ilCjNjDPDyzAfeH9KZKC3bApjqrAAUGOpNGEWp6U2zt9pQ7FFSBgzJdSsnK2IXGuT6Ex2uXdnGAFo48lOqgCoWxhSsIAg8CsDyXOTBlL3VRJoLrMb5aUVCHsbe7t2GmDf6yy6Jrof508p4L51jB9BoUH8mJF-Noy-ark1AY3s82xlAeSeGa8O0lwbQv-GZfjDhUFVgMXz2BVzLbkA9AqqEI7CAmD4CAJdYArpC7YK97e_NpMCs0YNceF1UdX7P0lrMGiDi7opadlG6-60-KgVUgKgS2mxkceG6wNVqMFugjaJYqjDZhAK7aZSYYrR-n9Lh9PrsJB1Io5Ap1hNon5NFjP0hSXGqlqHqHVwIST0t1qySIYsnoXZKwGG-djbQn4RwAcNxSOqjlcVIxGzZ5qRchUSdRYpHnOgCgTN8KTnco9eF0DKG_lrYtFaxh76iU2jolRpGVEfaDy2I-PgjXhuBk5euyeFOv_rWCxajz6YQJwmvlPEK_ZqsA6L6rw2wjeNQwVxT9FnCy2mBJA60dh7Tpt8mY98lIAsWzss=	\N
86782a1e-d1ac-4a4e-a653-56015b604e85	23714fd9-0b7d-4e67-9990-4f23701dc7ed	\N	\N	0	DELETE	RUNNING		61d5c765-6479-4674-a102-f281ceea7d22	61d5c765-6479-4674-a102-f281ceea7d22	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360593.0483797	1795360593.0484393	\N	1795364193.0483797	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdRS-gUlgLOD53JQgG02Lsz8k-42_TOPjZD4xFbuGFKxt2l4Yh1oX-uzHqMxq5S7BFGGvvJCksQC8N4oyAYIGu2L7dzVR1MxrixF4k08ATu-l01cjCyuTuITwDSI7vz4AO2O7BDlrtAC0skBimZtGjoJtTYM8p1MqfEl1TDUTtk9Yag8EvCNbEcUvegmuBDMnj6_hi3nY6grXu55CEtJk8qd4u3_Mf1CIvw1UfJ3T-0BLWdS7Rp2oCEFoWVTvQUYy-hUWBESFU3rSiaf2x6tchVCrJJ8stSxos-kq0XVI7FUl32mufIsE28GJxhGgjQnniUWtDIzHa-uF_QKEMTMNjZy-CJIxKa8ZKtrjzQfbSa977oE0b7YHyKvSfj0cSte3wKyqAaPnqeYVkVCZNPYnpUTV0eiEfmd79IRLN4jHPB9v-SDJRgGwjBM3xPIAa81c9sDM7YEqta8JqpetpCHljbgqP0j1fSUOtxzUr2drVXIuHa2f5_r88MMIcMqluKgj_3xCb_iwJeQ4uZc_lRasFPDHdkfHHct2lOOLqpEdJSmT7Y9Za3DOGuBJzc57NkjBzIZh4XcuiEbHdragkQTMTLH40KF8NIm1ngsntRdtKvT1Q=	\N
7f83d091-8cff-41b8-824c-e06985eac56c	ed29fb82-2288-4e5d-993b-02bf1421bfb5	\N	\N	0	SNAPSHOT	RUNNING		06f39653-b177-4446-9a50-31dca317bd78	06f39653-b177-4446-9a50-31dca317bd78	f	req-968c6aae-757b-47fd-86ea-8df4892257a4	563ee70ee05b4823be99e94c24e27480	demo	1795360593.0693738	1795360593.06942	\N	1795364193.0693738	3d4cc88c-1240-4d03-9cd1-753809c027ca	1	gAAAAABrAwdR4PSkhIGaX9m6wJDbzexu4_DlhVQ-yuxYH40mbuYJKHYQwPnnm77jTLl7Xu84Sdk84StW24ha2pgpNXmJujstX9wmXe2JJtbmX0xZEknzhmw657WFx759P_eenK0EGFW_KJNiFCDkzZPFJPf-DQu3M0EudlVX9rxeiy8Pphhjs0u-3v9857S35z7e0opuvVRaIozmHvjTkysPZo3RDq_pniykvviqwB88MPB2pqRO1Z4Brg3aR_zPsmPBpyAhZOjb4wtMaUNgVKV4MISnH_YXc2YWlHYuE_l3HDsFh-bZabNSp0K519zqpNEkX5L6KllUVBWwTPSQ4plEDt5-kdxXR-XxLoibqup21uNW1U-6h9RsAY7AgYH-uTD3saxAtUGD9iIhebUkHkFBhRa2wK3UxICY5qAMpVTcLQi8AR-5Y0bPpbEzVsRnmUvIxTQgHS13ZwndxDMv7DhAqwArYbavHTH2UqRBQcGCrRHHVS5V7S4MxLz0SphzHD28jlGIaNySkPeMa-B0izD85gCdTzQA3g==	f2ef73fb-6eef-4320-a16b-a662684ee438
\.


--
-- Data for Name: property_sets; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.property_sets (id, stack_id, body) FROM stdin;
6b1e6b9f-fcf3-4852-8b04-f9a9e1fdfb65	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdONbPwHCLZ9IYDmdBBFKplIZmPZvLz2Ulh_vM3Qzj0NCPWU_ZsYZpvzIL0SQP8E-D1GVRvMkkxG5RmP7ff9br3og==
f17be02a-21a4-42a4-bd9d-1f04ffb277a1	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdOjhdJpIYkzNwtIpBtgxpovZzKsKTpEV44aNr_qkZB9J8sW8rgS5U9VHQ7_iOx9V6dAbfhFcFYplDPDmYLqVMMYzNHbnhNmIfleLBtb3zJnDs=
e6c33b86-60b3-4531-8cd2-388df253719a	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdO9vLPf1-4PHXF4i1p-qqqbKCiubS48LTCy1I302VbDFrbGwApdnZa585GY581vLQdjCD9MWGL7NEfoUAcLUuNCpnptJxOzNdxaoO4DJBbHfxz9chXscdLrzdtsxtdTfZv3S59oQjnIqykaJNuf33UqYPBVTllLgd54afqDnXfCuH4oVPQX7_d4R6SpN_j7NTl
064fa42b-517c-48b3-ba0b-470609d12afd	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdO0qzpcOlMpybbkgs6oU4dr4i8Ruc3whwzIpR4qqyHkBF8G84c0J-dnEq9hvcZHJddk7_GJMJOt2lrSNTzBCERHilz1UmSdUwF-NTY0fKUqM8ZSwEQ-0uap9yLqzsIt-3N
41331c5b-1813-47bd-aca0-36e21e0208a2	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdOcNZfpA0s788b-d6Y7ZMVj1K2sC_-mSnA58cW-ouzRUuH9d8rQR5qkeQY-0VUsYLe7Y8FW7wwzEGpmcWoLLb9BZirp49qCYzkyy1rwOureOQ=
acf716fa-dcd5-475c-aa1e-5e7c1bd724c0	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdOunbq5BkpGq17Ph0tkhmQNTIxrmUhex0iulHHv7SQU_jKGjedmxvBDRH6QTLDXogqo2uBHEQO5j6Ql0QiIeYKuw==
f414926a-187a-42e6-9642-e26edd38e5ed	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdP6ESDWtbmOi3awOH76INd36xQ2a8E8fI9Imt6wsTwwhIGd_6q6ukR9qlIafDBtZ3rZyzfcLJml1MA1l_SwEkYKrD0R2dH75sAUCKxDAjVK1MZAYf64XqIyF9q5t24QCgELSZdQYQz3jfNmyr2gtEYPtDBxDu61nr7Oja3h9L6GBk=
c3f6d69e-d693-461a-af10-d3523af9e389	ed3f0580-3cae-49f2-890d-c773b54f7bcc	gAAAAABrAwdPU76N0pzEAksK-rDDycu3BVPALnZGgktqBPjiTtLXATutZ1YnzsLM7PhzPP3CPY8L7YFaAWMNf1rr9FHepYasHNG-mkfqjF5SGRcxiTmPsN8=
afd01f77-9552-460f-8d67-cfae2733973f	ed3f0580-3cae-49f2-890d-c773b54f7bcc	gAAAAABrAwdPyuUgB5mjWZap6lxkjxKnL0XbTO2FDDBJuQgbJmmyCA1p5vor_dUQULWPa_um2Zhc9SMAVwByMaroxQqjeBeENg==
a32db94c-e70b-4609-9afc-c8e9798c7e32	f2128038-ffa6-4e06-a615-6318b01f7556	gAAAAABrAwdPF0pCJMnDVTTPeGeLPAnzEFNlZGKU8mVQ5zomQIu531jTZljNbcqSUcjv-WlrqHzfWx2s0qd05065Nc0nbsIaYoAS8Yw3rKhJVh3zfbZpJVA=
ee462277-eadc-440c-ac25-3ed4df010af6	f2128038-ffa6-4e06-a615-6318b01f7556	gAAAAABrAwdPZHgg5chDSx1fAge7peSJMs-pFdNHf5JS0t2po0uO0pdxa8Y314ZaBtwX6lr5U_hO8CPTcJcIG0ySgnh8OsYTUovAZi0pSTpWZxw9QqJKo9w=
13a6a5c9-9ce0-40a2-98a2-55cef309a2bf	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdPf5S9otJ57bjQ3IQsv75up6ae-uG7tyfm4WDrz2wDG6QTF46o2fkgYfUVSlEV5G_jeOUiLkUz6rZqGC_gUmWDwTGDLGncUadoISWcZIOhYTJCVaYdrZuSS4y_e-0lOXy06j88kOxT8P1fEY0nPfiFoHq4c6VvoM2PF0kZj58-XZOfhNshxtDhf10-IWscXO03saNgssw_lFwmCFV5zP9MYZ-vZWUYJSxFPJIUUcMi5V4vPrCE5i6ElfeeH470Xbh-56ig7-mteEMcNn9L0sNhliImCVrOTD6aFw1nY7tzV0o86mx6IljaSSqWw9P4wEx-
38adee17-78b7-4f19-b05d-d8fceb15aca1	6beaa425-a9b2-4292-95d4-806295a740ac	gAAAAABrAwdPK0EM8f_yC0Wdx8JQ1SWsAR3ezNihbUdx8Fe9MN_-q4xolFn5ndIQSeM1jXZyhf6ackcHFMcxGlZ2JbwmRs9L2pIqzcbkhGjb4jU9jbnw80k=
3411c4a6-402e-4be9-b750-9a3f32d28a79	6beaa425-a9b2-4292-95d4-806295a740ac	gAAAAABrAwdPm4_VRUJcnkQ0fJtALGT-qKZlshlOu_CaYDMVtZ2aEKS4by3QDHKosQ5hTcWEaeb8YyhyfdBShmlYxuaWMN6avA==
65208be5-17da-4c89-a92b-e07ab0d9f5aa	1f0ff24c-3807-4f5c-9239-828f57657cd6	gAAAAABrAwdPCmieLXeDbPKynvP74oIhiMOozOWDehYkol3VfxMwgdga5iBiWihq9RInOJEyyXR9Rt61oM3ccP6kC5CcumsU337nIUC_kn1CO5cIso98fb0=
f102d310-3cc0-41f0-b08a-86a8f2efc7da	1f0ff24c-3807-4f5c-9239-828f57657cd6	gAAAAABrAwdPIJ_E-NJ8NBeHn7aincdOIV64cmC7yAzq_GIfDsJL28qMPQ7fdlKWErw8kcaUxJuBeml5ZNnohxDi5qT9sG4MvA==
2a574b55-d913-43b9-b5ed-e84226aa91cb	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdPW0GfBC8wufzAFmG9adJeSNLczaNuZBoSkgVRTy6ONQg_2cz-eh4PaR80fAB-i8No_3pxVfBJ65WF5JqA8QifdySD9_OG0T2a0dNT3qeP4AlUxRhrESq-yAwcRWumV4eOjG2oKEPUd6LN_em7wGSQ0yDyFL6R0XzLgUMdftTqfQrGneTzxWcrlG9unxYCHCUuU6U_pqscR587_G__INDbMmgcuN5c6_FXbWcd_3Mq2l3SA_pK7tbfPoGu-hU5BnL3
8aa35b70-256d-4e6a-87a1-be55eb0bf0ca	1b854873-5344-4048-a754-061b6872bf28	gAAAAABrAwdPsK28Dxv1GAf6GFuFdpTpUjyhizTJpCHQ_KWzHL4U_8-nxgqy-QEtVcxIEqxmJGYtO1foKTLXV3Andw-jcHLzms7ccXQ61Gg4CIvu8SXsSKA=
d1f551ed-d7b6-4bfa-a5e0-ad7114974e84	ed3f0580-3cae-49f2-890d-c773b54f7bcc	gAAAAABrAwdPXc8XJXuMbALd4oJgwHkRXcoBDowd56vBZYUzFwlnCPFkErvgGbWsAjWX7WOgNeEXZv86yIa2VwPVgxfCUGSrQr1UscbCwQzl1RDCBB1xCwQ=
7ece11cb-dbfc-44b5-b02b-74e9cfca64cb	f8046dc2-764f-47be-81d2-00a16966048f	gAAAAABrAwdPga2crpSrx-PSC-Qyd4FdZLqYP3_WsCWkvXSWYeZ0QfUP_2kctRdK57WgylH2qtQ-aYYRd1sk4TXXl-ipj9D3sg==
703e2394-beb1-4c7c-ace2-41bb45f87795	f8046dc2-764f-47be-81d2-00a16966048f	gAAAAABrAwdPyWAcW26vuse1b4utA5vRbOsc9c-bqBuTXBkPTLvbFzuoyLx3IaMmO4mYFJ2Gbv9WPr6qsL9jyctNQqn7dHVIUw==
3e0a3424-7e08-4fff-8b8b-a52a2b7fa9d7	23714fd9-0b7d-4e67-9990-4f23701dc7ed	gAAAAABrAwdP0Lca3yiCW3W2dAbTm6yFMpt73fukzzUJyM3OzM-ADpJWjrvVjD4YUi34vdw5uwwk96K98n2eHaYoEPq36Q5sLw==
182cd780-0133-4ce1-8e68-ca74cea378e3	23714fd9-0b7d-4e67-9990-4f23701dc7ed	gAAAAABrAwdP55OqhdUdlPNMr3Nbw2w6UjCJnX0FGB3kG4jKClmRQMUeHVV1_lKJP9GSIxXYoiQS_r9VkTT_bvo4aMhgD8ncWA==
2147d266-d9e0-4ae3-ae7f-1421f36c1d20	ed29fb82-2288-4e5d-993b-02bf1421bfb5	gAAAAABrAwdPTGzThFF8oZ-XCYhVhuklinT7f_i2f0MZKvfxRWDJ5DHdb4hdp9absfDNsmQXX4Sy-D8-sk-6Y2rFw5Z7-Eu0DQ==
2e95dbce-3839-4729-8ea8-def2b2162901	ed29fb82-2288-4e5d-993b-02bf1421bfb5	gAAAAABrAwdPyrR_k5nzaYF3hbvbh6HFhzTYu2sDmsV0qsKQLMlC8oXWSGt0iIWgijXltoL5DIGATYHjmjj_2w-_989IFOHpBw==
ffbb3be3-bcaa-45c8-8ae1-b7ac1f77017b	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	gAAAAABrAwdQ8sHCzI4VuKgfQir3BBtrdMB_Ng3PEW1AsamGIgJtD3CB5zZr27DNgTXtGK2C_vXtC2HApoIiNncK4nxftIy1BA==
cc4885cf-2f04-4f1f-ad7a-d3d6f22931c0	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	gAAAAABrAwdQ93oPsNlSug5W2kpqVaoFqyzRSz4FQjfJb7ul9yP42SyVE5GGEv-e4SmfzjsXoSImb1icNO4IiJ0QnUmx3VJHxw==
6be020f1-fb41-464d-bd5b-003d77cd5a1b	d5a57d01-13b6-46dd-87c4-93a94e82d878	gAAAAABrAwdQHKuIG_Iji6sl9HtBosWXz_LikDFVI08crqkvibJD1F0z-noIemZywFeHVTbRMMOa_88n6xlWBqnLI209PTqhxfW8J_LUsoVjwzWZU36sVZ-sEKzXHTYRIewLFI9rCp_GRYhbvyWdVBLG8BDEPqy3ew==
97973644-3199-4107-9a86-d5155f011cf2	47720cdf-97cf-48a3-9544-c8fcc71afe08	gAAAAABrAwdRhUQPB3EH6YM4lp3T0VToQEjng5P9YCLO7vkTULw6XI3SEag9ujhK4CR-bDXswfinEh-4GgNiqrjJQe7m-WSisKTHdjxrQxN_4DHtdAHX2UA=
918202bb-790e-471b-81a5-d4eb23673687	9ab5a3c1-1a5d-482b-ade5-cc381330575d	gAAAAABrAwdRqVuSo3j806v-zL-gZ6LUqc7Sa_oFg6EC6lgkAcCLnSxIYOtJQRGhfRE7u2Yo4MxUB3_Gqhi4TEVo1x5wf26qZLdKLsR3aPs4653k_RxnR_4=
2666cc54-fc92-4e47-bdd7-4e5fade1ffc3	9ab5a3c1-1a5d-482b-ade5-cc381330575d	gAAAAABrAwdRci-m6ScuJtIJc4A1Bs0qTYk7i2wn7tbdQQhx1os-QmZoRuVb7E4CINVVJ3lF4brzdeMGcxbrxfjreIAOG0q9Ew==
6fc43a44-e7ed-4103-a813-8c8afb4c114a	f8046dc2-764f-47be-81d2-00a16966048f	gAAAAABrAwdR2SR_DU3BABykQQlACjy_5AMdJnKqhtfRVW-AAj-a2FBDmiLDrnYmtLdWD4r79sOM-VdunTCiYiv7h17KDbvcBTQKPem2hlc0XUdmkL1eQbHJ7qHnV26JA1xrj4UwTvkVBJtaMAYYNe6QjGpRgPRmFEKKUX6cdg_Hz1tiqvaTHPs=
dc5de319-b8b4-4e87-a92b-4bba21390704	f8046dc2-764f-47be-81d2-00a16966048f	gAAAAABrAwdRWk2T1zcljE8eASleAjtizwc3SWNpRJAY4W1SF9ZmCQ_SHBFh_8MBx7H1VlJblCqy0qH26EhUkqOkDvWRKMDx-qZ9huuTsIsm46ySloZgAQe_lE3xM39j-koImcJoAEt-BB52G3kw4gOEKmydLz7qEg==
8ea3bc37-8d09-4c99-8413-8cc19f274a1f	f8046dc2-764f-47be-81d2-00a16966048f	gAAAAABrAwdR_5IpbwWgtTcq8WVgwtYSPJ21QeIo46mBLPJdDggEiVBxtYMuNVq7F46GXVT_I8hy7tRaTp0B-H2giPI5QY4PWc8bmtX1Yy-n51n5ZfjlOtS103E0DjhaoG5MswSq3DpYAS1Ha1nHrgTVcCNVFXwESLicB5Woh3MrtAU6A0xr52GKak_42khHs2VanmLvIPcEsWYIuWODTWkTwMs3tbEVmw==
873286f0-152d-4a2f-a55e-661adf088c13	f2ef73fb-6eef-4320-a16b-a662684ee438	gAAAAABrAwdRXny3U45lZKLBv9sUGguJVPFLXUYrRJCZiacDAjjN26sGAMwoAuQmriL0tOgQRPVbP_PFo4HwGai0GnaUQbfnCaUpYz26T9EjORCDCbYcOrcq4QueZHkl-N5Ztlek1gT-_82uzU9Pq6fHikwNszEciA==
\.


--
-- Data for Name: request_tokens; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.request_tokens (project_id, token, digest, answer, created_at) FROM stdin;
\.


--
-- Data for Name: resources; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.resources (uuid, stack_id, "position", name, type, action, status, reason, physical_id, fingerprint, requires, replaced_by, properties, former_properties, state, created_at, updated_at, started_at) FROM stdin;
b08b3257-a515-45a8-991c-aa62b724c846	1b854873-5344-4048-a754-061b6872bf28	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	24319605-d2a5-42e3-bcf7-674de1c5975d	3e6ec1e7d452cfeceb1e1ecdab107486adb56bd4b761e7302338eea0af9069e2	[]	\N	6b1e6b9f-fcf3-4852-8b04-f9a9e1fdfb65	\N	gAAAAABrAwdORwUVP9prYKlMV8ON1NvAo0olI6uGgK_7WGnGNzdk_5r30jinUHsKmJT09-py5JMjj63qv8gslSSQCy3A_2pvDwN0vqbaskgRS-Qklcx0JHYsp6hyFj2fecaL13ngwFcB-nkVWwSwaGJ7p3jT_2PG5EDh0JCTnFpXJf4PoolPql0z0UqP7jk_TDI17eurgKWTE2mqwfDWRNsv-bc6V547agman3G2FXX6Fv6m2ybS1w8UsPpip3abN01JhDN8mgxTylyEbJqSCnh4TTYl70NtYQl6eImvJF9XhxsxWt7XVe8=	1795360590.9729826	1795360590.995448	1795360590.9730434
93fd3c46-de7a-4a72-b362-06a455fe8930	1b854873-5344-4048-a754-061b6872bf28	4	nested	child.yaml	UPDATE	COMPLETE	state changed	ed3f0580-3cae-49f2-890d-c773b54f7bcc	d9f081d1ac71f1064de2a3fb91efdfbb4dab3358ad7a8c015017d0f3efab8508	[]	\N	8aa35b70-256d-4e6a-87a1-be55eb0bf0ca	\N	gAAAAABrAwdPTTRaoAnO1rE9FNHU8iHaBI_L9K48s16yfhvhvzxP07vAzwxhgWX41ogf6TWHfA7adoUeQUdRTYOMb1jxDnPyAUCwDhf77ref42XFzlN_oo1yLK6N3I9zixQhWDgVmb0PkJVJuQyzZGlQ5J4nos74oke4asILMV1DQR8oK57o6wez4RX1ayvA2WP4T_sNOwAuvHsghaDPd_cLpps1gNs8-N8MPb6mltl4gRDoUvlG6nI4Ofk2l_YuR2ll5GYIXNasGU-o39r6dUotFoSVXWIfaeKNK4b5P3oHuebtOO6JkWK6_mqXH8gB3zBAmVE0rAMqfSvsJzMoZb7YuFpL97ks8TzajGZG34_pRjUPxF1QLWm6SwQKjqRsjjlchIIO8Y-JPL5Hls9rjNokBbu1WZwW2Jdi3OWPLGt7R4xxpbzzIDPhDJRqkvV8AMG4rP6LQisX-UZIfFGyNqwHsey1yg86ZmoVeMBbGOagAXSwI8IwRXB-Bg5W_4fetXoF7VNy_4jExs_BJjk2raQV1CI51JdoPw==	1795360590.9739525	1795360591.38077	1795360591.3666213
1871fb52-2671-4338-90ad-3805c98063bb	1b854873-5344-4048-a754-061b6872bf28	5	members	OS::Heat::ResourceGroup	CREATE	COMPLETE	state changed	f2128038-ffa6-4e06-a615-6318b01f7556	b374c68e6e218ac98ef48d3c0462762d30c0cee1c56ddbca2f16d991fa68a888	[]	\N	e6c33b86-60b3-4531-8cd2-388df253719a	\N	gAAAAABrAwdP95fKin6pcOmSbnlaAax7Wa3HY94M_3zC2931WygIsBhuNPYhAZsZN5hGV4vmgbnDeEvrYTQD-UMbRC7jbWS51Bo0WU4FiFtB4kVopOdFygL1SV9_WcBa1dy_U0l0W8vVJBZnwal-nLVHUdWtLeixq5JKqwLGQPwuttH5ZaOa5jxpFzf515Ogc4dv-pv1YiLtpfykk6Be08qnqYcBw5fYA770HTCd-fqABc8Irj5mi-IPMNAQ8OgihCIcmIMvfyMs3zZgSjkpd0RPJU-2azGbRw2w6LqcS70urX559iUWhZI=	1795360590.97418	1795360591.3204362	1795360590.9742126
94e24756-bf02-4016-90a5-86058fc67140	1b854873-5344-4048-a754-061b6872bf28	6	script	OS::Heat::SoftwareConfig	CREATE	COMPLETE	state changed	94e24756-bf02-4016-90a5-86058fc67140	e8f1024cb1be80302c140c91497bccec610b270fd3513736eeb11752ea6d033f	[]	\N	064fa42b-517c-48b3-ba0b-470609d12afd	\N	gAAAAABrAwdPgA1sDVOCWSa7r1aE0FHz0ThZ2Yo9YEHp9yMoK-dBSTWhoudRYtKTSga0eqqn8jhjoStVm8dHbLHprbA_xy4HZ1mbQXbKEVqSPCPGrRKi3ZTCZA9QyoX6WjXswD97vBtbFs5CiIOhdILiBBr50a8uSDuIJ12uMT4ADW-HeoljNoYjtUliQVyuKKNtPNCZnAhDr2erl6eojeaNLNC6gUmhvgSc7iac4OwHlhU4RFmuuiHJ7sbvc5HPw0c387EhmJd7	1795360590.9743915	1795360591.0019479	1795360590.9744217
d8d5b32a-ac01-40be-aed8-cc28ebc4f94d	1b854873-5344-4048-a754-061b6872bf28	2	value	OS::Heat::Value	CREATE	COMPLETE	state changed	resting-value-5wgmfdv4j6kn	c78e4e16dbd2edfd8dad08484f47b4aca12493c78f3ef204c6eacf9c397f94b6	[]	\N	41331c5b-1813-47bd-aca0-36e21e0208a2	\N	gAAAAABrAwdOwaJcnlE02dbvd3VO9LlkAxmW_UeGOO40MuVmCUH0-QCQ0ryyVNbme-e29krrikpGKPCnrthp7FaFFX6M88BA8pJW3aY8f1-NFdq_PhsE53c_s9InMUcvz6wZQocYU9cYbmavD7HdOfyVxxIOnhvYH-yjRDJqXMCSA_t4g4aUp7e9Xe-UOJjrk1Ei3D68osdlsTgYc67V99bIc4MwAPYLjSruHplyeCYDdgJBElGVBxZJmglBAfFL1y_vhlgGE0Ay	1795360590.9734585	1795360590.982322	1795360590.9734964
0742ee86-db52-4f84-9b1c-d74af1dc3c59	1b854873-5344-4048-a754-061b6872bf28	3	random	OS::Heat::RandomString	CREATE	COMPLETE	state changed	resting-random-whgxjly5ypcz	657345425e4dc50b0e181ab204a26777f55cd1bc9190d8fab3844a1929c41c98	[]	\N	acf716fa-dcd5-475c-aa1e-5e7c1bd724c0	\N	gAAAAABrAwdPjnJGA-3oY9KY9cWsP0fL0NB3J98q5cZb9b_Y3TWWDRcrjMkezatvmJdWIcLbFq0tXyxWJz-AecVE-nro8ZzuoVCUw27PiEdlj-ZWzlQXggwtHUKMFy2CwqyiWh_bOt5z3rURPTjZ0GMNBIfX0oGY6nd259QVewD5cBTfy8LVdllKN8RoI4FUYsd-LEQBSGsa1ncZkS3schn7Qok3LVnuum-elM83ewY4PjT3FU8MwhDGJEWO3N8l-se1En1nlnhCzxyhvI4cyLVpNKWVyESGVEXXU-6nadOZsHBBZu9Mn8B2VRFrgAQp78jAwAWpfEreAvbY0Va_Hoi7hi0mkpaUL1HHB9F7wKNHdmz7Thj52B4VBSQ6jcjH3cejFZVRZUtKgO7fYyD-LhUXVBuWGzkhZw==	1795360590.9737277	1795360590.9827409	1795360590.9737675
9e2e93a1-39bd-4f33-8b74-fb5c125ef7f3	1b854873-5344-4048-a754-061b6872bf28	7	subnet	OS::Neutron::Subnet	CREATE	COMPLETE	state changed	0c1d4264-6a49-484b-a236-ac1ef2af2b83	9d505774217056a812868b261a9a493143f476a0e961a2b95950b36ede38aa11	["net"]	\N	f414926a-187a-42e6-9642-e26edd38e5ed	\N	gAAAAABrAwdP28SFwYSZG5ODPT8HXhwF84KDDo-onhpX-FXvxOnvnBE6O9iho8jA1w5CoCFOJ7ryRcDGFL3CBe8H-OjftBEK5t5dtQ9QGwjrtkuuUwAUDODWWlxkrNstARhVnyeqi-7qrJ9bgQQCHVg2Ls9MebKH44tVBSxVajbbvqMiCT0g6Z6e1X36eTnIiIAq1AFX6QMdzm_JQ2SgCla_roBD9y_aUEESjmxThwgTy4e9pyMmDUy9SHBVe7YFUmgmGYSmzYT7	1795360591.0026076	1795360591.017153	1795360591.002655
080e2841-db23-4070-ac0f-7c7f7897433b	ed3f0580-3cae-49f2-890d-c773b54f7bcc	1	net	OS::Neutron::Net	UPDATE	COMPLETE	state changed	6cfa1058-6456-4860-8b20-60a427a640da	f269f6c7fc560f548a20f3ec32ee4e6d3939b3a1b55a322c03dd66d4d3237e8d	[]	\N	d1f551ed-d7b6-4bfa-a5e0-ad7114974e84	\N	gAAAAABrAwdPFaoyYLrz2pcMN6tsXkNNWfSvcfmbQ7FOm7aoswQQUx4RGK8TSyXlSG4O0b8bZ6-eEyHmtIqAh6DQGhdsRLMdEkn3W5AXpyLWsRvbLCG6CFOH2H6ZtszH7UeJQKl37-CvdZUf4SQlzO-fzZjD3-R9vrer4hsNgskoMc6aXAify47OZpYwUUZQW7LOMhsmf6PyKlyqUih3apI1aHloahZTrcpd2f69hay6U-9GRZJzNiXUNsPEsIX7sEQOiM2ieUvkhuzH8m1pWOHjXBrEYlmG6R1C-3D-maZ0r4pf0MknxJA=	1795360591.0067265	1795360591.3773866	1795360591.3742137
d0969281-7561-4606-9372-7f8d585aaa71	ed3f0580-3cae-49f2-890d-c773b54f7bcc	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	9c86af09-7816-472e-823c-8b65606cc2d3	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	afd01f77-9552-460f-8d67-cfae2733973f	\N	gAAAAABrAwdP3DScnooyZTrVg_AIa9rKikqDH6R3XkkaIRa_NczC9mHPAJAz8_mYB4nEl73dz1ebpMXL9lB4soR8mXatRMzqtGAuPLQYsblS6omD4B0l5SciDUU5TpXt4dI0KoqGd7aZhGQp4aV-u7gU5wUl2hj9h_Ip-2ITZL4g8oQhekC0wSRttzCxv22u-m_1pN-iim4D8WhHFnZGtI9w8c4eXmcgqmnvG_4IlvtITM7bstCO3MOq0_dJzX-xn_WSBiVWaV-R	1795360591.0069902	1795360591.282021	1795360591.0070205
fd12336d-cc40-4020-afae-597aba2112fd	f2128038-ffa6-4e06-a615-6318b01f7556	1	0	child.yaml	CREATE	COMPLETE	state changed	1f0ff24c-3807-4f5c-9239-828f57657cd6	0ef8745548fb6f8a861186965eb9a2a2d18cfb52f90fcb30d95b62f12bed39e1	[]	\N	a32db94c-e70b-4609-9afc-c8e9798c7e32	\N	gAAAAABrAwdPOMBI4jOoaONNDFvwoH8kVDQH5M4ZpCtJEPyQZmGK80ZHznrHzkjtUqmvvEKmeMzoWXpgiwifrx-P-0e6f24IT5ctLOTZ3yHejYAfCfrgoiHtU5930d_y7LMlkMh9ZeB9X-CnwrwGNahibjowQPO8XNtb4tw00rJidJAYQ6Oz1mCRXNBswKi6CJ80bbCVNtMCLpSGFatj9Liqfd37hxnF4U7TYCY3BanQfPJPIQ63TLAp8f5_qd_glq4_bq_ldTv4eHrWY9kEBuv8mx4xgwzYdPe-uV5cL0jiaNLqzFAOnJLLAE2Vu3LiAtIctwO9QBEUXW0l4EXB2oqNGrYK62c05hTXAE7iBOvBHCijP8_J9XgYeZdLFP-2Eo-p_MK1TumHr1YrV-UaG56daJMjFmyHaoMp980UP5Du7t4BKg189-sQJNU1TUap52OAq_xWKopHyrLcD-UIOavai7QrPTm9Lg==	1795360591.0108306	1795360591.3136966	1795360591.0108764
c2ac133c-51df-4c5e-ba0f-1944a3048009	f2128038-ffa6-4e06-a615-6318b01f7556	2	1	child.yaml	CREATE	COMPLETE	state changed	6beaa425-a9b2-4292-95d4-806295a740ac	57d48e077ce49df5117dbca0eef08f16b7fadca6541720625229d3980f24f019	[]	\N	ee462277-eadc-440c-ac25-3ed4df010af6	\N	gAAAAABrAwdPANvo6qlWCat0teKWS_YAsRiFn2ZS-mgn3qPFuOPTsLg0i97lyuuP7I9XZl-QMBZ-rSz3xd36sEEqIzX6AK4Fd02DAv14cHn-IjCR8eJyehbScIqI6EWl133MCJAHMZqFgmI8zXjDRhmUwTgCqpUjqvyKZ7LwNKPLfCBFN_CtlVjCPQ-XEQVKv4SgADDLoaSWC90-E1HaJ_Xmz2jmRC2mpoRl4tSw7ASrHXmnFqAKDDkGPc2v-Gr9asWyFf6rCSECI3-bhxiPyMNq3_ycxiAN6qDzHvFKkq7lTCUUFjRnJz8wiqS5919vOY05R0qFzLSPX1rjURXyi1_LFhxK-xnH5BeZAiZVJxpXsKd867DtuhstfQiLdqP40jzRtBXzaInHH-HldDOTI7F4AsDEqD6iiWtKDpctKgwMsqza8XJHqrv135bIul3gfu9jJFRizMJgfPq5ExyBZmtkB2KSaMQOsg==	1795360591.011081	1795360591.313396	1795360591.0111103
89497747-a2e8-492c-a12d-16d837460613	1b854873-5344-4048-a754-061b6872bf28	8	server	OS::Nova::Server	CREATE	COMPLETE	state changed	d146e542-f78f-4c7a-9172-ee87f814ff95	d567d77bd1e175049ff58d78acc60b1e1dfa7440cd3e79b466ff5ce09690be21	["net","subnet"]	\N	13a6a5c9-9ce0-40a2-98a2-55cef309a2bf	\N	gAAAAABrAwdPBryal2sKH8fU16vy1E0QDCUOTmN1fFKFTMkdLjr4B0peUGpA2ydBH3WqAK7mxKPjIt_VSYbzpBA0NNxpfrvlhzyCQhRLSLlNJW8ypfqaDAnC7YI6aiyzHYhGJhbKjEcqEtDZTPB8mvSPf_UKN9nLOjLXg4q4JrNuuifFK93bExHnRLNMJDzFp5UpmPVXEHfhgSwNHV_MS9ElSXDiRf_DcWLFiXyuTfxXe7EmBNG4mBuLUQ9Z-OmZ38Ec9Np4GHIFHKfOCNi0_DaiE3vCC0H38aTUCFb_7UKHjDvnYWcrZbiNuQlMVhmD3NfxK7z5t1JGUrm9eCJjxlDgEzTtPRNJ6F_OPRX717EoKDfNa05-JR_luouCUZWL_WNPiJhBMMrWjNdZkxPK-aCqhOuymYt9E6zFqcgOhciURVLWnjH50__QYHVdLvO06NdpV92QOQvZwKWX62jil9opy29mGTfkXc1O4-ioEgRm2ooQR9lP_0UZFkjFjr9fWw5Nm3Lz_8idaBY1Jwx-pTCuRGLgak71orV7QQ9sUIV2FRzMvQT0fJ_344CliPfKoaeqpNNhtMsJdXTUcDYIYoV9ZeObCRlGVP6g2RALnPmZgW3_wjvLLbvCf7tekyfH2VujCamE7w4LA3QitvuLCLeRXAOPLAxVBou-tEfnSc0dAcq8NoJKHrPenRU8UmZCC82y8vZPi1Lb6gFoX01vUp5Ck-7XvyzEv010CiAHYODxo-2vx7BbX3XAEqMirRTeLAdyWglKsTQQhW4e042zB8wZwW7wZj2L1TcDFipJVF-61j7XxUbDL0K_Dpn9gXuuDC2bjT5xNIO5qYwpSdA6wniIx3Q44xQELZ4YsRk72lXUwdDPMsQXIfNqP3tqxaawxmHYYdpWY6FnvNxNTx8BaUqNw_ejIALDtCflyd0eO0-tFetSfj-Xr-I-V6_CJk5g_RMpInM5ds3jEFHRd3jN-xdzFV7PNMhZQGGeBCMnApavmx-lKpBmGDTrQzpbLndL18YCvUmOU6M2	1795360591.027811	1795360591.3247416	1795360591.0278525
1784d633-b2a9-4ec2-9092-066d9a2d5f52	6beaa425-a9b2-4292-95d4-806295a740ac	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	e1bd198d-682a-4438-af96-1708c517c2c6	0e151f086187cb69427f6f2d06dfddd2191d6c616ba00a64da74cc1bb11948c2	[]	\N	38adee17-78b7-4f19-b05d-d8fceb15aca1	\N	gAAAAABrAwdPyOqIHTBjAsesfCWRzdoFnl1tsQ80yGBskFtfjqtY1nywmQebD0w7Bx-_OjwVmx0Qst7NDBsUhiHYkEyp0J2PLVXy3PXSKoqL2pObOBicx3c88pUIeM-BGdmddJKs8nXfuy8L05CmqUs4SrkQcWZuyqPaYtX4xDkLkwygGHqgUYy4btEnOOXmXzXQ0wGTL-jANj9aXujwyDobYRLsnAyhiJ91v9MZs3kHFZfHKQ-5TtmHiRfjbtSv82IbaOuiXmjhsyMMdEAoNymU9eC6YsFCIUTETwX6cxTLifSaZFXk3-c=	1795360591.0332716	1795360591.0470052	1795360591.033304
b8232e5b-3cb8-48a0-a998-14cc34ef1ae2	6beaa425-a9b2-4292-95d4-806295a740ac	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	79b8d60a-3693-4cdf-8df3-9c66de774e89	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	3411c4a6-402e-4be9-b750-9a3f32d28a79	\N	gAAAAABrAwdPsmfbMJ4WPTGMCq6B7dhRSUiJ9kuFLNkd1tehAegIJUrg9-5E9lkIb-GvmAW9l3YWgAVTTV3OJZ2VObnTa_U648FEjmR4EPvSdeAcJA5ujjfytUD1i_iyfxF-0xRC0bKKLpA1HSgJWGnuoEukfMaLe77OwMHmiJEWKur5885WCTgMniM5cGnmLq8vedRmQp--LNr4bP3oDeac1NmhiZZ8ol9TMOtEXL-CQH7uqcz4lzaBki3tysqKMoOcP3qLgU8R	1795360591.033488	1795360591.3066795	1795360591.0335033
b5c96421-d490-4660-bc8f-bd1858da647b	1f0ff24c-3807-4f5c-9239-828f57657cd6	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	e62c37a5-cecd-4b29-ab5f-1eaf3674c313	fd832ea71371c8ee09620c23b26c00b89f7f74f11dddef61ff788a05390aaf23	[]	\N	65208be5-17da-4c89-a92b-e07ab0d9f5aa	\N	gAAAAABrAwdPUESFDuC6hQ1W6ddwYrAHEJk2F-oB5SpNQmTACO8LAFeCkGiYPs0i3JFa2Ozx9MgCISa1UI7DJlUyrNhnEmgZ75pxp_nwnv6yD4qqMsLC2lQakaKTXv7rhWAOl1fb0tB965K6DxtBfNSDZpxa7L5l2J1Eq8f3j33KQYnsqmZ6MP4mwgleF6HBQ8d68ActdMCXtqrb52Vz4kseRjLj7Puk-jS-y59rqR5lofZp_PZACbL_w-GJvkeL08y57JXbXEuSZlPOA16EuCEc0eeCjtak_rt1TyQqaS1PLQnBewZlyAM=	1795360591.0358667	1795360591.0507638	1795360591.0359085
2edb6a52-e9e5-48ca-8085-09543921b591	1f0ff24c-3807-4f5c-9239-828f57657cd6	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	429d4d35-8ba5-4a20-bdec-19923452d627	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	f102d310-3cc0-41f0-b08a-86a8f2efc7da	\N	gAAAAABrAwdP952X6jcopE49u-H1RYKBX4KgDGq0hR8-JZM1UmUv89kDK64w7VBRREAoalbiFQ-QSNW5QEoqSyi8m__pZ8LeI-3XnK9QMOaM5Rj6QAAZGKjgzRS6BTQu0rCF5nctCmuJDjKiT-gMhiRiMeUTlrNrFB4rbm2ZF4MbBbV2UL4Or8nx05xqcZfpTYlUW6sRZzrX_592aJNVbbG5choGXVZ1-XTJi3s7POdo-iwhL-XIoz28LfWtgZqfm6xIYPFuiyNC	1795360591.036147	1795360591.309432	1795360591.0361817
cd48f9be-6105-45d5-9a0e-ef82e4e2dc8c	1b854873-5344-4048-a754-061b6872bf28	9	deployed	OS::Heat::SoftwareDeployment	CREATE	COMPLETE	state changed	cd48f9be-6105-45d5-9a0e-ef82e4e2dc8c	006748b14da60c8de146d32b648b644a87c4150485c0eb24c00ee8f096e8684e	["script","server"]	\N	2a574b55-d913-43b9-b5ed-e84226aa91cb	\N	gAAAAABrAwdPsd-XxSOsaN5CS7ySvjC94DRrhznwOJMg9fI382MRk9LZu-Q3YmexriNpOxWnV1z5HBMc8XODUg49YJJqipJ2PDPy4WE8IeuHJDszWN79MV6ZeuM74KaNrglkKzSOF0w-fTD4QITahx1txF_nvQX4pcPEQqhAuOErLOfJ85j_uqihREHS4vcK22Nqw5socK89tG6fEcrsKs_HzOrxHFYBoSRRAPTpIOqWxO0aqLiYUMD9ppTuqZ8CTHY2CU4K7jUp	1795360591.3262906	1795360591.3408618	1795360591.3263192
02bf0a60-8d66-4036-b2bd-35ff767a651d	f8046dc2-764f-47be-81d2-00a16966048f	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	e9eb1209-335f-43ff-8628-674c84650371	3e6ec1e7d452cfeceb1e1ecdab107486adb56bd4b761e7302338eea0af9069e2	[]	\N	7ece11cb-dbfc-44b5-b02b-74e9cfca64cb	\N	gAAAAABrAwdPGtBGPWZ4N-QJU5rZqHOJq794US4j8syU62gv7e8ODtbf30-l0G2BCY9TdbcVzO4UChyw6Wvhk6kNbjCzUEodgmXMjRM3OQtuLrRDVDq0aZt_fR38O8d1RKbEmfG6Rhl9eTsn8ziLwQc4ldHujWbObIT2DPHVnN1NkSMpML4_wOkFL7-beqMsD_v8zkPj-OYliOfya0hnrjqfI7DB6ymiKkM4-4ys0NvcZCBdQH3JIS7brFKBORiz3I0aoZDAG_UGeMpYF7RdBxyVE-Uj7aAxHLl8x3sEzM1EwOWfH4Wh-FA=	1795360591.394148	1795360591.3994074	1795360591.3941846
792093f6-4368-4aee-a891-f57b0dbc28fb	f8046dc2-764f-47be-81d2-00a16966048f	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	46674130-85f5-4b79-85b3-3380f950ca52	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	703e2394-beb1-4c7c-ace2-41bb45f87795	\N	gAAAAABrAwdPzVGLjsVNv7zH21euxmAai1kRBnxShTsSa13zuH7axZwF1EFTNdVu9N6L43HCiXggqPSVSiV9s5r4pLm4hmTdtZmDzXIzmTsFhKXQ5cYkzmc0C3l3u48vwO3xuKUFp74vR4v5FgY-stk59J62fmFpyDRrgODuBp3O8UomczbPFOikYWqU76_eI0r_xLx6AZyo8c0F02VGQvxZXkXUpFKNal15cB8jtNjOHGhnQtCl6NL6MbIju-J2K3lPa_lUUMk-	1795360591.3943555	1795360591.653456	1795360591.394371
2b6a5960-ca57-470d-a84e-f6069cb60959	23714fd9-0b7d-4e67-9990-4f23701dc7ed	2	volume	OS::Cinder::Volume	DELETE	IN_PROGRESS	state changed	6ef073fd-624d-4479-ae04-ce38ff2c4455	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	182cd780-0133-4ce1-8e68-ca74cea378e3	\N	gAAAAABrAwdR_lUeyT45sbz4IgbL2V1Ek6MgiZKh-X_HA63M99I55VgqpFrkWDwBO9tOmhuAtcJeNY5TN_QKbL7mSJS5aQCJHEWgACHLPLQIj4bY1uFflJFD-UhDGS7vtR-XwvZJL5XTE5QQDiGx9acKaWy0_d2fYM7fz5vGOIcDpHdhpo4usb7cuNBHsRa_UMbPcCLwojbGVFJ5IjnzKEWjEzAFZXnKVa2HVAmdeOnyPDHKw6sN2MPoNBzA5TZ9JSGVkrJe3WZr3MCVyaXX30pXag-poQEKEUTmB0JW6eLL2afe9FYorL68Fy9NsErifAUJwB607GpM	1795360591.6632717	1795360591.923959	1795360593.0601695
603b7036-5e21-4f3b-a546-27a1d8aedd88	ed29fb82-2288-4e5d-993b-02bf1421bfb5	1	net	OS::Neutron::Net	SNAPSHOT	COMPLETE	state changed	a1f86300-11f2-43ee-8c30-8ae932d9a68f	3e6ec1e7d452cfeceb1e1ecdab107486adb56bd4b761e7302338eea0af9069e2	[]	\N	2147d266-d9e0-4ae3-ae7f-1421f36c1d20	\N	gAAAAABrAwdRYTwjOvUIhBsIN5ZbNGebgZjWGdeyk8tbvslzDvkAlRbjfryoRFai_Ri3o10R-gQjRaVrNFqSHguewkxQjvLKFE3cpuYzbIMCzNwwo2XmAzSNYr-IcGTvzy2tpOVT7Bs8rwKm8fKpn8ZWF1c5diA1KAmtOYg2Yrd4PzkVlw_2cK3arx6U7mRv1A7qgcV-Bkog-dreHpekxgQHOUTaBpz8Vhv4LVKWlOc8l9xyXtFRJ5etJBbyrQKO4YQcci4E_b6pqOrZo5l8J3bH4LnVnzk4-AipaXfReC4oLAMIRTB9tCQ=	1795360591.9373996	1795360593.0799773	1795360593.0771725
ab1add09-8045-4409-aac7-5d2a009d78e6	ed29fb82-2288-4e5d-993b-02bf1421bfb5	2	volume	OS::Cinder::Volume	SNAPSHOT	IN_PROGRESS	state changed	dc54fbe6-2c06-434a-8c9c-fa04d7a39d49	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	2e95dbce-3839-4729-8ea8-def2b2162901	\N	gAAAAABrAwdRPcaULFJzPUK1NcjfwAjKWwV0Ws7R-9gYJDtLhXfF_d5QLvox4tVnrP0psTLoUX9FlXD1PVxuB4jcNtqPPWx8LZc9Wb3DNdN4w2SNko1j412ZNyWozKpgGYWKoWIuSz9qVzrN8pkXkZhaIroXn9yeHykh4oeVSZ_82oRBZ2JwMfsZv8WKXnIdv2DdvGbLgX3del6v7X6umbLq52Sx8KeduNU5MqlPTIU8Li30365JZaikAzbLikAqLUGJz9YKPOgm	1795360591.9376347	1795360592.7415626	1795360593.077315
49654f8a-6ef5-4c58-a8e3-223680faa525	d5a57d01-13b6-46dd-87c4-93a94e82d878	2	volume	OS::Cinder::Volume	CREATE	COMPLETE	state changed	a17563db-03c8-46fc-9eea-65605ea0ec46		[]	\N	6be020f1-fb41-464d-bd5b-003d77cd5a1b	\N	gAAAAABrAwdQJx2S_yBG_b9vHBgo7Ni-7Z9Q87E1bWh-9IBrWcgP0Doqva0rh9c9EbpqN_vZVlgls493rgm1pRNs7rD8rRFJd9V8b3aV7FD_605c-PwEicRPR7xae9kWXku966UYi9VtGs0UaYmbmBKtREGWy7zYo1RKGuExd1TdyUKheIa85p8gUNb9ldB2axfnJ9wyS7sL	1795360592.483503	\N	1795360592.483503
1436ae8a-ca6f-45be-878b-d535d61aa1f4	47720cdf-97cf-48a3-9544-c8fcc71afe08	1	nested	child.yaml	CREATE	IN_PROGRESS	state changed	9ab5a3c1-1a5d-482b-ade5-cc381330575d	8503f4c7be7834c0687b82472ffe3426e13a26073e24a8d4a36266145aedd064	[]	\N	97973644-3199-4107-9a86-d5155f011cf2	\N	gAAAAABrAwdRdXqAPnILP8x1jm13SkRdReMR1gQMr2ryEeK9dIbCCQtY6Mwidh7xTi4IUAWJxqVkemGupe67huMyYdDkB4WIW08zfvaMDb-_pWF3PBCN7bJKMmPGQxG-LjcMU762bsBkYh45eH0y677gUcWimtN1yzAzzIXkcwMORw5wOwGlMT9sIyc7yTFRj9bq1yB6EQdiOkUQAxB12tHmwZ-Ul8WGvCyYYNIwlhaiAOq1FjzHZvE=	1795360593.032223	\N	1795360593.0322568
876c414c-2bc2-409c-9da7-d99e21182a75	9ab5a3c1-1a5d-482b-ade5-cc381330575d	1	net	OS::Neutron::Net	CREATE	COMPLETE	state changed	0caf6ced-24f8-4e2b-b73d-f0bdbda3f2cb	c93729b39e4c4bae493c277212b7530956d7da8d1ceb4666efc0e174777f5882	[]	\N	918202bb-790e-471b-81a5-d4eb23673687	\N	gAAAAABrAwdRg4PI7SzqXr4sGOxM57xy8Nc_0ufoTcH9PST_tUvJQhljEzgTtjnQoPGHAV3U3TmGM76SXMxIGT5s9HleCGpSj2Od2ee_kZo-6TXmpPcl2SORPX10hR3oqL0wT3_AFQ5Mp2lfRwHzi3j0KjC5QpdZFXYhleKYW-YrrChxyVmJqTqsdss-aN1CM1q_e0HsGrxF2WisOiK_3ioOjqEoRyQ36mDu57F6nSD_tCb2WkL4qGMTW3AI0S7zDcUN8Gp-AIXMg1Im308VNl7XyL2556B6p1W8BCr3gu87RYaEEKFyBd4=	1795360593.044054	1795360593.054014	1795360593.0441043
c3474217-39fe-4137-921c-641c8c10179a	9ab5a3c1-1a5d-482b-ade5-cc381330575d	2	volume	OS::Cinder::Volume	CREATE	IN_PROGRESS	state changed	a0598517-1027-4638-873d-edcb37ed27e9	6ed4c6c383de4d5adefcfb76590464159bb7161c5f79b7fb480eaac62d814ca3	[]	\N	2666cc54-fc92-4e47-bdd7-4e5fade1ffc3	\N	gAAAAABrAwdR0QOmB7Ulo7A7Xoyu0sTk-dO9WibO5n2fADM93z_ZlvMJSKcm1PA91O4tmKsqCjcZ4y6LbHx_fh30gYTHtI_NExgyNyPNgyy7nFZow7rY1Yl3wZKTctPud4goc6pvi0vi67bLkP6U7YhuEyVgmQgq10mvlQPDRQP4BMbw4IycEydeX7IvOtD_KvCqyeidJOBqlwinR5wT3WWMWBwaUbLfbmsImN0mEdQdXeeZmEzsV4lUT6Zj6XJaUNZPYB2OiIulFVZV9Qjqza1XFV7bT1JIcuQYqDHg8ZovS_gqs8vmWVE=	1795360593.044488	\N	1795360593.0445259
9263b9b7-d724-4ef2-9262-0c95b614d97e	f8046dc2-764f-47be-81d2-00a16966048f	3	subnet	OS::Neutron::Subnet	CREATE	COMPLETE	state changed	a690bca5-4fb3-487f-bf9f-8e57912e7816	bbabdff3a4fd6a43c961cf4597fbbc028de55f628a1f1ddcf415386f6c0934a8	["net"]	\N	6fc43a44-e7ed-4103-a813-8c8afb4c114a	\N	gAAAAABrAwdRKjDUHKxC0pHvwKrnwGWADUUSobFu2MDUO_RSmOq34FU6XguBVgYtmD9QZWFKZRONt-VPAJDZi6HaENHqCCPCmi5OBc3C2VyLJzTe9Li8hYyr81o7-B5GSSQZBbpkvkSCRbjf6VEWx58DNvRAsbP1TzuXMUDq3xfEWV3qARbJ2kkGBogVK37lEVrdyrHdugStdGP-OHHXM-oQLDOYQYVr3RBx8S8mEHHCc6RYvUdebWa0yOexktmDC6zQHoHXRxLC	1795360593.0472786	1795360593.0610716	1795360593.0473006
09da8d9d-4484-45ca-bd5b-89e13e070d9b	f8046dc2-764f-47be-81d2-00a16966048f	4	port	OS::Neutron::Port	CREATE	COMPLETE	state changed	9b74d9ef-1ab6-4b5c-9c6c-2ce305b45331	5ee78827910165843f2fddee4e21af66051bee1fa21feadce92304e059ef80bf	["net","subnet"]	\N	dc5de319-b8b4-4e87-a92b-4bba21390704	\N	gAAAAABrAwdRCc3_4SmH0433bfZyjaxrwQbNopY2glEqi64jqQTyz678aq9lOvXOJ8RsU8TgRre2yvBVCu6tcoUsbx2KDXlakLz2KpA_GQ5t3EmE-iBIWsHEa_4DJq5yy6lAUFBM-kcjvEfIJBsRVQ0iNl6yqri3KSuA59blnSEod4WAJ9g7j34Rad2x8zw3rylXKxvnvTKfKgUdEfevbViQVwqG7UmPV_I9zekOqiON1PrmoMvC-XTy4erAgKXceJSKq7vl6CRysn04t3ctGZrOJMvIVQ3lhJilNHFn1Z3ZZCH3XKiiq8VHkP4g6W3MSCAlrC1Vb5dT-rgk80piqbUJpGpTSGCEAA==	1795360593.0641177	1795360593.0740564	1795360593.0641418
c0cd8448-eb08-4875-8d67-7bf8e0313767	f8046dc2-764f-47be-81d2-00a16966048f	5	server	OS::Nova::Server	CREATE	IN_PROGRESS	state changed	15d0eb48-0168-436d-8fc4-c486ae469ffe	30120bc77e798bda5e81256f4ca4d6e2ac3aeb3385c98b7481c5e5d17b93796a	["port","subnet"]	\N	8ea3bc37-8d09-4c99-8413-8cc19f274a1f	\N	gAAAAABrAwdRk5CWXNeCT5RnSdQd6V4zJHIXpPhFk4x1Rjqh6RP0RO2imYqEvwKWn-BNut_nS6Xeu_iDf0MNRn8bGp4mZ6MZBOYOC5PJ0BbGKzBcYhghYC1XavCFY5yz4q_d7RlrmGC43oU3yrboI_pzrNcQpJpcS4Vyju4iAH6lUYaOGdBV_2dIjkr-YcwwvnzYPp9wib1Z6rKvP63UsZ1wMGUD2i8wDVP3VaNY-h6W8lbtCE7McSwM-ZCtFRxHN26JTR0X37w8	1795360593.0786514	\N	1795360593.0786774
ad95eabe-573f-41aa-99cd-5fc5a6b6a2a7	f2ef73fb-6eef-4320-a16b-a662684ee438	2	volume	OS::Cinder::Volume	CREATE	IN_PROGRESS	state changed	85834ec3-e22b-4325-a094-57c7b806a027		[]	\N	873286f0-152d-4a2f-a55e-661adf088c13	\N	gAAAAABrAwdRj4zoDayG36KG5txt0iraT5vN9_OC0SIIly9Y6dg4YKF1X-w4jMy6_css5o8PV4XCDg_WNa3AzRpmz42VZayTWM8IZokmrwxFKMl8J1quwTF8UAvgGmCBMeOO9xw3mwzC5iSbJeG8AdJGxV6VerrfOAZ8Bf4mo8rqStSXTBy1ycDmWeWSZw6fTE_yzeF_34YL	1795360593.079623	\N	1795360593.079623
\.


--
-- Data for Name: sealing_keys; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.sealing_keys (id, proof) FROM stdin;
\.


--
-- Data for Name: snapshots; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.snapshots (id, stack_id, name, action, status, reason, inputs, body, created_at) FROM stdin;
d5a57d01-13b6-46dd-87c4-93a94e82d878	ed29fb82-2288-4e5d-993b-02bf1421bfb5	before	CREATE	COMPLETE	Stack SNAPSHOT completed successfully	06f39653-b177-4446-9a50-31dca317bd78	gAAAAABrAwdQh-Rou2U57jpByFsJ0cVnboLFe-ip8SL_yPzJI2gzkBV6JtNY_JDCfgZM1y4EygtKZhBc8ndrOqIjUihMRXiJmYQGNwjjiP8fQC75ra_V6IoYoRPf4B1MfNgAiZ-Hjxu2DnHnKzgKAgS9HLOjntOU_5Rk6zwq9PBEtYL2d22uUbJYo9zK4a-H3fY8jqqxmEI22KbYJFKKqWHKHxEHDTmSC5LfhF4z-AU4ZHL2X4-ThTNx43nAM174X2rGo_QR4OWqkDrhaIttoT9p61RhWJuGV5p52qidGG9XwHnnEkzoQ-C_KfsigHmt8SjWdcMG0OaoDet9R2f2C_quQlBxCUpx4ZHkuoEJiNAWiLyFq9ydHW-dZX8dUbcgcwXY7MXKs9LgZx73McJ9qcfOy39aFl65DD1BX-jxdelvS6OJ7wFocunII53WkZMfxjLOjAnn3-0BYkn-w8H6trWhIC9m_Jv8zV4ncNJ2eJqamEbzPVFeYUxdL7lqHfK8poCbPkWV4oaVHUiz8oyBAr-CSFAWdPlJBJ4P1K-wxl1hGj9s3pzUUKpQh49GLXkzGjFF-BUP33XeEBQb-kNlRHbeQ8xOclit6MB8NBzXybnbUnAdudPisMALjJSzWegyldAj1sXoqtrpPeYvM0zSNUFNMVsWx7dqKZ6YuKUwR6EEasssCzp9xcaFhRDCru8vgGSty40GbhUXH_wOrKaufhkwKzJDzLBmrcmpkpMcOL3T1Jwy5Ug5U8BCzMl1mOFX9ovMM-w3eWBUs8FrMqNO35V2IM80HWqCWDaiyQ1iykd6D3KCik89OLjPPK7ByQWmeJV8VvenGXvt420cTiP_8-SYe10iXvjT7Jat5aS1ySxcKqHc_79qrZvZV8tvYmHD6NgOT6DQVt5DFMNEgAIllpZnmRz9T2l4eHafVOUXMVZ17H7cjtI3MtC4reLJDcdsa9BewACKHTCna6AvdOuw4ZgU7f_GNEAiz2IRlvxl-UQmwEDuXMJc5Ev30nVnUfI9LSYzjgaoepc0GS1tlJaF_HUR8SKWvr1P0VzDAg0nZFbBcBHMRpg1ZPL0ZK2x2atVvfl2evwwglx7f6Cz3oIbbGYgaLfloaKeXIJ2t7gSFzfK3TQtOtOk5qHhwZXBBkQT_cGP4ac_tEP5yyZa2M-TCFo0JM_a5-eERmv_u3InNPYJhftw3dvUpXi2Sg9wSK5E-eshFnIXUtXZG_ZpozRRFJC1r0Y2QYyr2FhJw1v2qJBnpUR5nWYbPA2Un2OlJqgKORSCyLp4P_5Ecfw0E3zCAlL0aC3zEDi6ko8giBb6Oihatfqgdgq_MwQGXDCTO2cti94QzfxlQwke	1795360592.4753973
f2ef73fb-6eef-4320-a16b-a662684ee438	ed29fb82-2288-4e5d-993b-02bf1421bfb5	after	CREATE	IN_PROGRESS	Snapshot CREATE started	06f39653-b177-4446-9a50-31dca317bd78	\N	1795360593.069365
\.


--
-- Data for Name: software_configs; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.software_configs (id, project_id, name, "group", body, created_at) FROM stdin;
94e24756-bf02-4016-90a5-86058fc67140	47b79813f3e649fb8762aa35ab60cf28	resting-script-bjmgawh4m4ka	script	gAAAAABrAwdO2C6O273tgt3WuSOFvOuJ8O9I3gqdUiSkCSRfdNRndrtP71vaDj4B8-xylRRiTpEsQjUkmvhXvWyWDyODQ0qRbsrc07CqKBzz0oxUyThQ46VZQpDhzGdrlvg2vf7o6_ARrnIdBZpf7lcrQ1UkfNjinLd1952PfjPLEM6GKKDYNGw=	1795360590.9951828
f747c2f1-517f-473a-965c-e931052c37ed	47b79813f3e649fb8762aa35ab60cf28	resting-script-bjmgawh4m4ka	script	gAAAAABrAwdPfNAZOiweUkKOOw9mdJtWSJcBKmUIgpsIfhdDTjqpjaUcraX6t62XlUc7y4Dp-H9stVySh5gQUpe6T0TqyREggGhiXMkMwgFTjLWUlgraBlV24Rniise_zdcOxNjrG-gy9hLIA8wwk6olJsc8ms3TE9bdlwpBYbarIw3pvHsjabyLe6dr4nKn1XivpTBp5cUNiQj39KH5at6VwpjRh8MQVslNQaQl04HsTRJo531Y-8a2rPHJORfJcvcyuO0IjczCdkLqaHUDXmMILTtdzL8s9trTPWmcMGBHuNNVgPOKQ0BkVuYUMFGfb9f9eicX2f_5AH3V9fWEzZhckXPjYpWDE0c9caULzeqLg_w5Lv-L8MAbtRB-xVk0pvQfFaf5yWtfQBnoqtq5ptti4bHt-N6pV9XZxOUKYWBGDReWhHOCoHkfDY0Ecgax3vUxPX4kKFGWBAE8ADv87T8wWTezPG6KzGrJa0qpwmjWQ6O6oEaVGGvtmjt6aMOlbeS5ck33sj1e9lEUG1t0hqpTPEZfErYmEQI-V6E0ZTZ3EFf-s0HKMjhWAgMHMEfdeTfO_pi0IpZbJHllhppzTulAFHgI1fzg2DApTWjwOsDEzM9rF1y_d-mxNeecVUxghrS1AWuuCf0WT42uWwJhGph-FHCXmKeo5w==	1795360591.334437
\.


--
-- Data for Name: software_deployments; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.software_deployments (id, project_id, server_id, config_id, stack_user_project_id, action, status, status_reason, body, created_at, updated_at) FROM stdin;
cd48f9be-6105-45d5-9a0e-ef82e4e2dc8c	47b79813f3e649fb8762aa35ab60cf28	d146e542-f78f-4c7a-9172-ee87f814ff95	f747c2f1-517f-473a-965c-e931052c37ed	7f98412f7e0f4ece850a0ea95cffd447	CREATE	COMPLETE	No signal is expected	gAAAAABrAwdPDxcJ6aq67b6u4KsXXFCetOfkULm5qp6FUaVPNWYJAwd319-ZVhbYpgh8gxLwGDZgJ8VDcUBnf41zhN5Zj1ZPwjiXnlXDGxYOIJTV0ywMPhFBM9LyoPYQwx3h5o6nYZnQ	1795360591.3368394	\N
\.


--
-- Data for Name: stack_documents; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.stack_documents (stack_id, body) FROM stdin;
\.


--
-- Data for Name: stack_settings; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.stack_settings (stack_id, protected, policy, notification_topics, capabilities) FROM stdin;
\.


--
-- Data for Name: stack_tags; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.stack_tags (stack_id, "position", tag) FROM stdin;
\.


--
-- Data for Name: stacks; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.stacks (id, name, live_name, project_id, user_id, user_name, parent_id, parent_resource, root_id, depth, action, status, reason, description, created_at, updated_at, deleted_at, timeout_minutes, disable_rollback, inputs, good_inputs, operation, credential, user_project_id, strayed) FROM stdin;
1b854873-5344-4048-a754-061b6872bf28	resting	resting	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	\N	\N	1b854873-5344-4048-a754-061b6872bf28	0	UPDATE	COMPLETE	Stack UPDATE completed successfully	Stacks at rest	1795360590.906322	1795360591.357569	\N	\N	t	96c0f3a5-ff2e-44b4-8f74-57338f6d922a	96c0f3a5-ff2e-44b4-8f74-57338f6d922a	1356d9aa-70bf-41ba-80ce-0618a71d5471	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	7f98412f7e0f4ece850a0ea95cffd447	f
ed3f0580-3cae-49f2-890d-c773b54f7bcc	resting-nested-gyqgurk75cjq	resting-nested-gyqgurk75cjq	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	1b854873-5344-4048-a754-061b6872bf28	93fd3c46-de7a-4a72-b362-06a455fe8930	1b854873-5344-4048-a754-061b6872bf28	1	UPDATE	COMPLETE	Stack UPDATE completed successfully		1795360590.9949858	1795360591.368823	\N	\N	t	2cd8359f-f527-4845-8d2f-e114b6bbfcc5	2cd8359f-f527-4845-8d2f-e114b6bbfcc5	6440e817-a62b-4e67-bd68-36f60bf2e16f	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	7f98412f7e0f4ece850a0ea95cffd447	f
f2128038-ffa6-4e06-a615-6318b01f7556	resting-members-bljyaxeyay53	resting-members-bljyaxeyay53	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	1b854873-5344-4048-a754-061b6872bf28	1871fb52-2671-4338-90ad-3805c98063bb	1b854873-5344-4048-a754-061b6872bf28	1	CREATE	COMPLETE	Stack CREATE completed successfully		1795360590.999425	\N	\N	\N	t	1572d26b-a903-4c4b-a76b-f936e0129d1b	1572d26b-a903-4c4b-a76b-f936e0129d1b	7f474e19-32b0-4cf4-b59a-5cd649e7a5e9	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	7f98412f7e0f4ece850a0ea95cffd447	f
1f0ff24c-3807-4f5c-9239-828f57657cd6	resting-members-bljyaxeyay53-0-7lszpk5ccex5	resting-members-bljyaxeyay53-0-7lszpk5ccex5	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	f2128038-ffa6-4e06-a615-6318b01f7556	fd12336d-cc40-4020-afae-597aba2112fd	1b854873-5344-4048-a754-061b6872bf28	2	CREATE	COMPLETE	Stack CREATE completed successfully		1795360591.0224257	\N	\N	\N	t	c571db28-1e78-453e-b594-3b80eba84103	c571db28-1e78-453e-b594-3b80eba84103	ad175021-540f-4445-a01c-3461c6752f19	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	7f98412f7e0f4ece850a0ea95cffd447	f
6beaa425-a9b2-4292-95d4-806295a740ac	resting-members-bljyaxeyay53-1-udyzisrqjaaj	resting-members-bljyaxeyay53-1-udyzisrqjaaj	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	f2128038-ffa6-4e06-a615-6318b01f7556	c2ac133c-51df-4c5e-ba0f-1944a3048009	1b854873-5344-4048-a754-061b6872bf28	2	CREATE	COMPLETE	Stack CREATE completed successfully		1795360591.0233216	\N	\N	\N	t	926b3011-8446-4ce7-b07b-2df1790d824f	926b3011-8446-4ce7-b07b-2df1790d824f	5966fcea-f0c2-4871-9636-5285e6078f14	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	7f98412f7e0f4ece850a0ea95cffd447	f
f8046dc2-764f-47be-81d2-00a16966048f	changing	changing	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	\N	\N	f8046dc2-764f-47be-81d2-00a16966048f	0	UPDATE	IN_PROGRESS	Stack UPDATE started		1795360591.3891912	1795360593.0374062	\N	\N	t	32ee5d43-6b76-4b7b-a9c2-ee891fa9e05b	52572b96-0c0d-42ac-9ef7-14b8a85304e1	bccc5c03-b349-4bc8-9c09-61de0667a621	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	\N	f
23714fd9-0b7d-4e67-9990-4f23701dc7ed	falling	falling	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	\N	\N	23714fd9-0b7d-4e67-9990-4f23701dc7ed	0	DELETE	IN_PROGRESS	Stack DELETE started		1795360591.658407	\N	\N	\N	t	61d5c765-6479-4674-a102-f281ceea7d22	61d5c765-6479-4674-a102-f281ceea7d22	86782a1e-d1ac-4a4e-a653-56015b604e85	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	\N	f
ed29fb82-2288-4e5d-993b-02bf1421bfb5	kept	kept	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	\N	\N	ed29fb82-2288-4e5d-993b-02bf1421bfb5	0	SNAPSHOT	IN_PROGRESS	Stack SNAPSHOT started		1795360591.9324245	\N	\N	\N	t	06f39653-b177-4446-9a50-31dca317bd78	06f39653-b177-4446-9a50-31dca317bd78	7f83d091-8cff-41b8-824c-e06985eac56c	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	\N	f
9d3d57d3-86d9-40d8-90c6-ca200ae5b474	gone	\N	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	\N	\N	9d3d57d3-86d9-40d8-90c6-ca200ae5b474	0	DELETE	COMPLETE	Stack DELETE completed successfully		1795360592.205162	\N	1795360593.0199802	\N	t	4d28727f-7a01-48ba-b10b-27ff1a6fe6df	4d28727f-7a01-48ba-b10b-27ff1a6fe6df	bd7239ff-8bd6-49c0-aa50-deb0d9c3debb	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	\N	f
47720cdf-97cf-48a3-9544-c8fcc71afe08	rising	rising	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	\N	\N	47720cdf-97cf-48a3-9544-c8fcc71afe08	0	CREATE	IN_PROGRESS	Stack CREATE started		1795360593.026688	\N	\N	\N	t	8b2b2ecf-eea3-4f04-a9d3-e91fcb7a1b29	\N	c64866e9-b022-4cef-9a03-e6c20b411deb	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	\N	f
9ab5a3c1-1a5d-482b-ade5-cc381330575d	rising-nested-pc6vgxlbvipu	rising-nested-pc6vgxlbvipu	47b79813f3e649fb8762aa35ab60cf28	563ee70ee05b4823be99e94c24e27480	demo	47720cdf-97cf-48a3-9544-c8fcc71afe08	1436ae8a-ca6f-45be-878b-d535d61aa1f4	47720cdf-97cf-48a3-9544-c8fcc71afe08	1	CREATE	IN_PROGRESS	Stack CREATE started		1795360593.0372193	\N	\N	\N	t	9e2eb413-792b-46e2-a844-d73c0e72c3c6	\N	c789de32-d7b6-4530-87d4-3e7a6a5bf100	{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	\N	f
\.


--
-- Data for Name: trusts; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.trusts (credential, user_id, project_id, roles, given_up) FROM stdin;
{"kind":"trust","id":"e40085c95d924304a7c435f3b7eada96"}	563ee70ee05b4823be99e94c24e27480	47b79813f3e649fb8762aa35ab60cf28	["heat_stack_owner","member","reader"]	f
\.


--
-- Data for Name: writers; Type: TABLE DATA; Schema: public; Owner: stoker
--

COPY public.writers (id, groups, "time") FROM stdin;
865f7d76-cfe9-4ded-8662-3826c969f252	108	1795360593.088589
\.


--
-- Name: announcements_sequence_seq; Type: SEQUENCE SET; Schema: public; Owner: stoker
--

SELECT pg_catalog.setval('public.announcements_sequence_seq', 1, false);


--
-- Name: events_sequence_seq; Type: SEQUENCE SET; Schema: public; Owner: stoker
--

SELECT pg_catalog.setval('public.events_sequence_seq', 108, true);


--
-- Name: alembic_version alembic_version_pkc; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);


--
-- Name: announcements pk_announcements; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT pk_announcements PRIMARY KEY (sequence);


--
-- Name: change_sets pk_change_sets; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.change_sets
    ADD CONSTRAINT pk_change_sets PRIMARY KEY (id);


--
-- Name: document_parts pk_document_parts; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.document_parts
    ADD CONSTRAINT pk_document_parts PRIMARY KEY (whole, part);


--
-- Name: documents pk_documents; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT pk_documents PRIMARY KEY (digest);


--
-- Name: drift_detections pk_drift_detections; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.drift_detections
    ADD CONSTRAINT pk_drift_detections PRIMARY KEY (id);


--
-- Name: engines pk_engines; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.engines
    ADD CONSTRAINT pk_engines PRIMARY KEY (id);


--
-- Name: events pk_events; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT pk_events PRIMARY KEY (sequence);


--
-- Name: exports pk_exports; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.exports
    ADD CONSTRAINT pk_exports PRIMARY KEY (project_id, name);


--
-- Name: imports pk_imports; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.imports
    ADD CONSTRAINT pk_imports PRIMARY KEY (stack_id, name);


--
-- Name: inputs pk_inputs; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.inputs
    ADD CONSTRAINT pk_inputs PRIMARY KEY (id);


--
-- Name: operations pk_operations; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT pk_operations PRIMARY KEY (id);


--
-- Name: property_sets pk_property_sets; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.property_sets
    ADD CONSTRAINT pk_property_sets PRIMARY KEY (id);


--
-- Name: request_tokens pk_request_tokens; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.request_tokens
    ADD CONSTRAINT pk_request_tokens PRIMARY KEY (project_id, token);


--
-- Name: resources pk_resources; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT pk_resources PRIMARY KEY (uuid);


--
-- Name: sealing_keys pk_sealing_keys; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.sealing_keys
    ADD CONSTRAINT pk_sealing_keys PRIMARY KEY (id);


--
-- Name: snapshots pk_snapshots; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT pk_snapshots PRIMARY KEY (id);


--
-- Name: software_configs pk_software_configs; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.software_configs
    ADD CONSTRAINT pk_software_configs PRIMARY KEY (id);


--
-- Name: software_deployments pk_software_deployments; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.software_deployments
    ADD CONSTRAINT pk_software_deployments PRIMARY KEY (id);


--
-- Name: stack_documents pk_stack_documents; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_documents
    ADD CONSTRAINT pk_stack_documents PRIMARY KEY (stack_id);


--
-- Name: stack_settings pk_stack_settings; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_settings
    ADD CONSTRAINT pk_stack_settings PRIMARY KEY (stack_id);


--
-- Name: stack_tags pk_stack_tags; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_tags
    ADD CONSTRAINT pk_stack_tags PRIMARY KEY (stack_id, "position");


--
-- Name: stacks pk_stacks; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stacks
    ADD CONSTRAINT pk_stacks PRIMARY KEY (id);


--
-- Name: trusts pk_trusts; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.trusts
    ADD CONSTRAINT pk_trusts PRIMARY KEY (credential);


--
-- Name: writers pk_writers; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.writers
    ADD CONSTRAINT pk_writers PRIMARY KEY (id);


--
-- Name: announcements uq_announcements_id; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT uq_announcements_id UNIQUE (id);


--
-- Name: change_sets uq_change_sets_stack_id_name; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.change_sets
    ADD CONSTRAINT uq_change_sets_stack_id_name UNIQUE (stack_id, name);


--
-- Name: events uq_events_id; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT uq_events_id UNIQUE (id);


--
-- Name: stacks uq_stacks_project_id_live_name; Type: CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stacks
    ADD CONSTRAINT uq_stacks_project_id_live_name UNIQUE (project_id, live_name);


--
-- Name: ix_announcements_engine; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_announcements_engine ON public.announcements USING btree (engine);


--
-- Name: ix_announcements_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_announcements_stack_id ON public.announcements USING btree (stack_id);


--
-- Name: ix_change_sets_project_stack; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_change_sets_project_stack ON public.change_sets USING btree (project_id, stack_name);


--
-- Name: ix_document_parts_part; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_document_parts_part ON public.document_parts USING btree (part);


--
-- Name: ix_drift_detections_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_drift_detections_stack_id ON public.drift_detections USING btree (stack_id);


--
-- Name: ix_events_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_events_stack_id ON public.events USING btree (stack_id);


--
-- Name: ix_exports_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_exports_stack_id ON public.exports USING btree (stack_id);


--
-- Name: ix_imports_project_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_imports_project_id ON public.imports USING btree (project_id);


--
-- Name: ix_inputs_environment; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_inputs_environment ON public.inputs USING btree (environment);


--
-- Name: ix_inputs_files; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_inputs_files ON public.inputs USING btree (files);


--
-- Name: ix_inputs_template; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_inputs_template ON public.inputs USING btree (template);


--
-- Name: ix_operations_owner; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_operations_owner ON public.operations USING btree (owner);


--
-- Name: ix_operations_parent_operation; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_operations_parent_operation ON public.operations USING btree (parent_operation);


--
-- Name: ix_operations_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_operations_stack_id ON public.operations USING btree (stack_id);


--
-- Name: ix_operations_status; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_operations_status ON public.operations USING btree (status);


--
-- Name: ix_property_sets_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_property_sets_stack_id ON public.property_sets USING btree (stack_id);


--
-- Name: ix_resources_physical_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_resources_physical_id ON public.resources USING btree (physical_id);


--
-- Name: ix_resources_stack_position; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_resources_stack_position ON public.resources USING btree (stack_id, "position");


--
-- Name: ix_snapshots_stack_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_snapshots_stack_id ON public.snapshots USING btree (stack_id);


--
-- Name: ix_software_configs_project_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_software_configs_project_id ON public.software_configs USING btree (project_id);


--
-- Name: ix_software_deployments_config_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_software_deployments_config_id ON public.software_deployments USING btree (config_id);


--
-- Name: ix_software_deployments_project_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_software_deployments_project_id ON public.software_deployments USING btree (project_id);


--
-- Name: ix_software_deployments_server_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_software_deployments_server_id ON public.software_deployments USING btree (server_id);


--
-- Name: ix_stack_tags_tag; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stack_tags_tag ON public.stack_tags USING btree (tag);


--
-- Name: ix_stacks_credential; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_credential ON public.stacks USING btree (credential);


--
-- Name: ix_stacks_deleted_at; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_deleted_at ON public.stacks USING btree (deleted_at);


--
-- Name: ix_stacks_parent_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_parent_id ON public.stacks USING btree (parent_id);


--
-- Name: ix_stacks_parent_resource; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_parent_resource ON public.stacks USING btree (parent_resource);


--
-- Name: ix_stacks_project_created; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_project_created ON public.stacks USING btree (project_id, created_at);


--
-- Name: ix_stacks_root_id; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_stacks_root_id ON public.stacks USING btree (root_id);


--
-- Name: ix_trusts_given_up; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_trusts_given_up ON public.trusts USING btree (given_up);


--
-- Name: ix_trusts_user_project; Type: INDEX; Schema: public; Owner: stoker
--

CREATE INDEX ix_trusts_user_project ON public.trusts USING btree (user_id, project_id);


--
-- Name: stack_documents fk_stack_documents_stack_id; Type: FK CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_documents
    ADD CONSTRAINT fk_stack_documents_stack_id FOREIGN KEY (stack_id) REFERENCES public.stacks(id) ON DELETE CASCADE;


--
-- Name: stack_tags fk_stack_tags_stack_id; Type: FK CONSTRAINT; Schema: public; Owner: stoker
--

ALTER TABLE ONLY public.stack_tags
    ADD CONSTRAINT fk_stack_tags_stack_id FOREIGN KEY (stack_id) REFERENCES public.stacks(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--

\unrestrict ad0XPrVPcVpZJtQytUJCCbkCoqE6rXUPctJb4LaVVeFEEbyoTSiNDoNYsiRcgpd

