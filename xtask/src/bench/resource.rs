//! One generated resource as it stands in a checkpoint: fields in their order, properties sorted, secrets sealed.

use super::plan::{PROJECT, Part, Place};
use super::random::Random;
use super::seal::seal;
use serde_json::{Map, Value, json};

/// What marks a sealed value in a property map.
const SIGNATURE: (&str, &str) = ("4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270");

/// The resource at a place.
pub(super) fn resource(place: Place) -> Value {
    let mut fields = Map::new();
    fields.insert("urn".into(), place.urn().into());
    fields.insert("custom".into(), matches!(place.part(), Part::Provider(_) | Part::Child { .. }).into());
    let properties = Properties::of(place);
    if let Some(id) = properties.id {
        fields.insert("id".into(), id.into());
    }
    fields.insert("type".into(), place.kind().into());
    insert_properties(&mut fields, "inputs", properties.inputs);
    insert_properties(&mut fields, "outputs", properties.outputs);
    if let Some(parent) = place.parent() {
        fields.insert("parent".into(), parent.urn().into());
    }
    let dependencies: Vec<String> = place.dependencies().into_iter().map(Place::urn).collect();
    if !dependencies.is_empty() {
        fields.insert("dependencies".into(), dependencies.clone().into());
    }
    if let Some(provider) = place.provider() {
        fields.insert("provider".into(), format!("{}::{}", provider.urn(), provider.provider_id()).into());
    }
    if !properties.depending.is_empty() {
        let depends = |name: &&str| ((*name).to_owned(), Value::from(dependencies.clone()));
        fields.insert(
            "propertyDependencies".into(),
            Value::Object(properties.depending.iter().map(depends).collect()),
        );
    }
    if let Some(secret) = properties.secret_output {
        fields.insert("additionalSecretOutputs".into(), json!([secret]));
    }
    let mut random = place.random(5);
    for name in ["created", "modified"] {
        fields.insert(name.into(), moment(&mut random).into());
    }
    let position = format!("project:///src/{}.ts#{},{}", place.name(), 1 + random.below(400), 5);
    fields.insert("sourcePosition".into(), position.into());
    Value::Object(fields)
}

fn insert_properties(fields: &mut Map<String, Value>, name: &str, mut properties: Value) {
    if properties.as_object().is_some_and(|properties| !properties.is_empty()) {
        properties.sort_all_objects();
        fields.insert(name.into(), properties);
    }
}

/// A moment whose fraction does not end in zero: trailing zeros are not written.
fn moment(random: &mut Random) -> String {
    format!(
        "2026-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z",
        1 + random.below(12),
        1 + random.below(28),
        random.below(24),
        random.below(60),
        random.below(60),
        random.below(100_000_000) * 10 + 1 + random.below(9)
    )
}

/// What differs from type to type.
struct Properties {
    id: Option<String>,
    inputs: Value,
    outputs: Value,
    depending: &'static [&'static str],
    secret_output: Option<&'static str>,
}

impl Properties {
    fn of(place: Place) -> Self {
        let mut random = place.random(6);
        match place.part() {
            Part::Root => Self::plain(None, json!({}), json!({"endpoint": "https://platform.example"})),
            Part::Provider(_) => {
                let inputs = json!({"region": "eu-central-1", "skipCredentialsValidation": "false", "version": "7.1.0"});
                Self::plain(Some(place.provider_id()), inputs.clone(), inputs)
            }
            Part::Component => {
                let address = format!("https://{}.platform.example", place.name());
                Self::plain(None, json!({}), json!({"url": address, "replicas": 1 + random.below(9)}))
            }
            Part::Child { .. } => Self::of_child(place, &mut random),
        }
    }

    fn plain(id: Option<String>, inputs: Value, outputs: Value) -> Self {
        Self { id, inputs, outputs, depending: &[], secret_output: None }
    }

    fn of_child(place: Place, random: &mut Random) -> Self {
        match place.kind().as_str() {
            "aws:ec2/instance:Instance" => instance(place, random),
            "aws:iam/role:Role" => role(place, random),
            "aws:s3/bucket:Bucket" => bucket(place, random),
            "aws:ec2/securityGroup:SecurityGroup" => security_group(place, random),
            "kubernetes:apps/v1:Deployment" => deployment(place, random),
            "aws:rds/instance:Instance" => database(place, random),
            "aws:lambda/function:Function" => function(place, random),
            _ => password(random),
        }
    }
}

/// The outputs of most resources: their inputs and what the provider adds.
fn with(inputs: &Value, added: &Value) -> Value {
    let mut outputs = inputs.clone();
    if let (Some(outputs), Some(added)) = (outputs.as_object_mut(), added.as_object()) {
        outputs.extend(added.clone());
    }
    outputs
}

fn secret(plaintext: &str, random: &mut Random) -> Value {
    let text = Value::from(plaintext).to_string();
    json!({SIGNATURE.0: SIGNATURE.1, "ciphertext": seal(&text, random)})
}

fn tags(place: Place, random: &mut Random) -> Value {
    json!({
        "Name": place.name(),
        "cost-center": format!("cc-{}", 1_000 + random.below(40)),
        "environment": random.pick(&["production", "staging"]),
        "managed-by": format!("pulumi/{PROJECT}"),
        "owner": random.pick(&["payments", "search", "growth", "platform"]),
        "revision": random.hex(40),
    })
}

fn arn(service: &str, random: &mut Random, name: &str) -> String {
    format!("arn:aws:{service}:eu-central-1:{:012}:{name}", 100_000_000_000 + random.below(8))
}

fn policy(random: &mut Random, statements: u64) -> String {
    let statements: Vec<Value> = (0..statements)
        .map(|number| {
            let name = random.hex(12);
            json!({
                "Action": ["s3:GetObject", "s3:ListBucket", "kms:Decrypt", "sqs:SendMessage"],
                "Condition": {"StringEquals": {"aws:ResourceTag/owner": random.pick(&["payments", "search"])}},
                "Effect": "Allow",
                "Resource": [arn("s3", random, &format!("{name}/*")), arn("kms", random, &format!("key/{name}"))],
                "Sid": format!("Allow{number}"),
            })
        })
        .collect();
    json!({"Statement": statements, "Version": "2012-10-17"}).to_string()
}

fn instance(place: Place, random: &mut Random) -> Properties {
    let id = format!("i-{}", random.hex(17));
    let tags = tags(place, random);
    let inputs = json!({
        "__defaults": [],
        "ami": format!("ami-{}", random.hex(17)),
        "ebsBlockDevices": [{
            "__defaults": ["deleteOnTermination"],
            "deleteOnTermination": true,
            "deviceName": "/dev/sdf",
            "volumeSize": 20 + random.below(400),
            "volumeType": "gp3",
        }],
        "instanceType": random.pick(&["m7g.large", "c7g.2xlarge", "r7g.xlarge"]),
        "subnetId": format!("subnet-{}", random.hex(17)),
        "tags": tags,
        "tagsAll": tags,
        "userData": format!("#!/bin/sh\nset -eu\nexport SERVICE='{}'\nexec /opt/agent --token <file>\n", place.name()),
        "vpcSecurityGroupIds": [format!("sg-{}", random.hex(17))],
    });
    let added = json!({
        "arn": arn("ec2", random, &format!("instance/{id}")),
        "availabilityZone": "eu-central-1a",
        "cpuOptions": {"coreCount": 2, "threadsPerCore": 1},
        "hostId": null,
        "id": id,
        "instanceState": "running",
        "metadataOptions": {"httpEndpoint": "enabled", "httpPutResponseHopLimit": 1, "httpTokens": "required"},
        "privateDns": format!("ip-10-0-{}-{}.eu-central-1.compute.internal", random.below(256), random.below(256)),
        "privateIp": format!("10.0.{}.{}", random.below(256), random.below(256)),
    });
    let outputs = with(&inputs, &added);
    Properties {
        depending: &["subnetId", "vpcSecurityGroupIds"],
        ..Properties::plain(Some(id), inputs, outputs)
    }
}

fn role(place: Place, random: &mut Random) -> Properties {
    let name = place.name();
    let tags = tags(place, random);
    let inputs = json!({
        "__defaults": ["forceDetachPolicies", "maxSessionDuration"],
        "assumeRolePolicy": policy(random, 1),
        "description": "Lets the service read its bucket & write its queue",
        "forceDetachPolicies": false,
        "inlinePolicies": [{"name": "main", "policy": policy(random, 1)}],
        "maxSessionDuration": 3600,
        "name": name,
        "tags": tags,
    });
    let added = json!({
        "arn": arn("iam", random, &format!("role/{name}")),
        "createDate": moment(random),
        "id": name,
        "uniqueId": format!("AROA{}", random.hex(17).to_uppercase()),
    });
    let outputs = with(&inputs, &added);
    Properties { depending: &["inlinePolicies"], ..Properties::plain(Some(name), inputs, outputs) }
}

fn bucket(place: Place, random: &mut Random) -> Properties {
    let id = format!("{}-{}", place.name(), random.hex(7));
    let tags = tags(place, random);
    let rules: Vec<Value> = (0..3)
        .map(|number| {
            json!({
                "enabled": true,
                "expirations": [{"days": 30 * (number + 1), "expiredObjectDeleteMarker": false}],
                "id": format!("expire-{number}"),
                "prefix": format!("logs/{}/", random.hex(8)),
                "transitions": [{"days": 14, "storageClass": "STANDARD_IA"}],
            })
        })
        .collect();
    let inputs = json!({
        "__defaults": ["acl", "forceDestroy"],
        "acl": "private",
        "bucket": id,
        "forceDestroy": false,
        "lifecycleRules": rules,
        "tags": tags,
        "tagsAll": tags,
    });
    let added = json!({
        "arn": format!("arn:aws:s3:::{id}"),
        "bucketDomainName": format!("{id}.s3.amazonaws.com"),
        "hostedZoneId": "Z21DNDUVLTQW6Q",
        "id": id,
        "objectLockConfiguration": null,
        "versioning": {"enabled": true, "mfaDelete": false},
    });
    let outputs = with(&inputs, &added);
    Properties { depending: &["tags", "tagsAll"], ..Properties::plain(Some(id), inputs, outputs) }
}

fn security_group(place: Place, random: &mut Random) -> Properties {
    let id = format!("sg-{}", random.hex(17));
    let rules: Vec<Value> = (0..5)
        .map(|_| {
            let port = 1_024 + random.below(60_000);
            json!({
                "cidrBlocks": [format!("10.{}.0.0/16", random.below(256)), format!("10.{}.0.0/16", random.below(256))],
                "fromPort": port,
                "protocol": "tcp",
                "self": false,
                "toPort": port,
            })
        })
        .collect();
    let inputs = json!({
        "__defaults": ["revokeRulesOnDelete"],
        "description": "Managed by the platform",
        "ingress": rules,
        "revokeRulesOnDelete": false,
        "tags": tags(place, random),
        "vpcId": format!("vpc-{}", random.hex(17)),
    });
    let added =
        json!({"arn": arn("ec2", random, &format!("security-group/{id}")), "id": id, "name": place.name()});
    let outputs = with(&inputs, &added);
    Properties { depending: &["vpcId"], ..Properties::plain(Some(id), inputs, outputs) }
}

fn deployment(place: Place, random: &mut Random) -> Properties {
    let name = place.name();
    let variables: Vec<Value> =
        (0..4).map(|number| json!({"name": format!("SETTING_{number}"), "value": random.hex(24)})).collect();
    let inputs = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "annotations": {"pulumi.com/autonamed": "true"},
            "labels": {"app.kubernetes.io/managed-by": "pulumi", "app.kubernetes.io/name": name},
            "name": name,
            "namespace": "services",
        },
        "spec": {
            "replicas": 1 + random.below(12),
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{
                    "env": variables,
                    "image": format!("registry.example/services/{name}@sha256:{}", random.hex(64)),
                    "name": "main",
                    "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                    "resources": {"limits": {"cpu": 0.5, "memory": "512Mi"}, "requests": {"cpu": 0.25}},
                }]},
            },
        },
    });
    let added = json!({
        "__initialApiVersion": "apps/v1",
        "status": {"observedGeneration": 1 + random.below(90_000_000_000), "readyReplicas": 3},
    });
    let outputs = with(&inputs, &added);
    let depending = &["metadata", "spec"];
    Properties { depending, ..Properties::plain(Some(format!("services/{name}")), inputs, outputs) }
}

fn database(place: Place, random: &mut Random) -> Properties {
    let id = format!("db-{}", random.hex(26).to_uppercase());
    let password = random.hex(32);
    let tags = tags(place, random);
    let inputs = json!({
        "__defaults": ["applyImmediately", "skipFinalSnapshot"],
        "allocatedStorage": 100 + random.below(900),
        "applyImmediately": false,
        "backupRetentionPeriod": 14,
        "dbSubnetGroupName": format!("subnets-{}", random.hex(8)),
        "engine": "postgres",
        "engineVersion": "17.4",
        "instanceClass": "db.r7g.xlarge",
        "password": secret(&password, random),
        "skipFinalSnapshot": false,
        "tags": tags,
        "tagsAll": tags,
        "username": "service",
    });
    let address = format!("{}.{}.eu-central-1.rds.amazonaws.com", place.name(), random.hex(12));
    let added = json!({
        "address": address,
        "arn": arn("rds", random, &format!("db:{}", place.name())),
        "connectionString": secret(&format!("postgres://service:{password}@{address}/main"), random),
        "endpoint": format!("{address}:5432"),
        "id": id,
        "iops": 3000,
        "latestRestorableTime": moment(random),
        "password": secret(&password, random),
        "port": 5432,
        "status": "available",
    });
    let outputs = with(&inputs, &added);
    Properties {
        depending: &["dbSubnetGroupName"],
        secret_output: Some("password"),
        ..Properties::plain(Some(id), inputs, outputs)
    }
}

fn function(place: Place, random: &mut Random) -> Properties {
    let name = place.name();
    let inputs = json!({
        "__defaults": ["publish", "reservedConcurrentExecutions"],
        "environment": {"variables": {
            "QUEUE": arn("sqs", random, &random_name(place)),
            "TABLE": arn("dynamodb", random, "table/events"),
            "TEMPLATE": "<p>Hello & welcome</p>",
        }},
        "handler": "index.handler",
        "memorySize": 512,
        "name": name,
        "publish": false,
        "reservedConcurrentExecutions": -1,
        "role": arn("iam", random, &format!("role/{name}")),
        "runtime": "nodejs22.x",
        "tags": tags(place, random),
        "timeout": 30,
    });
    let added = json!({
        "architectures": ["arm64"],
        "arn": arn("lambda", random, &format!("function:{name}")),
        "codeSha256": random.hex(44),
        "id": name,
        "invokeArn": arn("apigateway", random, &format!("lambda:path/2015-03-31/functions/{name}/invocations")),
        "lastModified": moment(random),
        "sourceCodeSize": random.below(9_000_000),
        "version": "$LATEST",
    });
    let outputs = with(&inputs, &added);
    Properties { depending: &["environment", "role"], ..Properties::plain(Some(name), inputs, outputs) }
}

fn random_name(place: Place) -> String {
    place.random(7).hex(20)
}

fn password(random: &mut Random) -> Properties {
    let inputs = json!({
        "__defaults": ["lower", "number", "numeric", "special", "upper"],
        "length": 32,
        "lower": true,
        "number": true,
        "numeric": true,
        "special": true,
        "upper": true,
    });
    let (hash, result) = (random.hex(60), random.hex(32));
    let added = json!({
        "bcryptHash": secret(&hash, random),
        "id": "none",
        "minLower": 0,
        "minNumeric": 0,
        "result": secret(&result, random),
    });
    let outputs = with(&inputs, &added);
    Properties {
        secret_output: Some("result"),
        ..Properties::plain(Some("none".to_owned()), inputs, outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_about_as_large_as_real_ones() {
        let sizes: usize = (0..2_000).map(|index| resource(Place { seed: 1, index }).to_string().len()).sum();
        let mean = sizes / 2_000;
        assert!((2_600..3_000).contains(&mean), "{mean} bytes a resource");
    }

    #[test]
    fn the_same_seed_gives_the_same_resource() {
        let text = |seed| resource(Place { seed, index: 4_321 }).to_string();
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
    }
}
