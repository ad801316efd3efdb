//! CloudFormation's names as the package `aws-native` has them.

/// The package that serves Cloud Control's resource types.
pub(super) const PACKAGE: &str = "aws-native";

/// The type token of a CloudFormation type; `None` when the package serves none of its kind.
///
/// `AWS::CDK` and `AWS::CloudFormation` types are bookkeeping of a deployment, and types of others than AWS are not part
/// of the package.
pub(super) fn type_token(cloud_formation: &str) -> Option<String> {
    let mut parts = cloud_formation.split("::");
    let (vendor, service, resource) = (parts.next()?, parts.next()?, parts.next()?);
    let is_plain = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_bookkeeping = matches!(service, "CDK" | "CloudFormation");
    if vendor != "AWS"
        || parts.next().is_some()
        || is_bookkeeping
        || !is_plain(service)
        || !is_plain(resource)
    {
        return None;
    }
    // These two names would clash with others of the package.
    let module = if service == "Config" { "configuration".to_owned() } else { service.to_ascii_lowercase() };
    let resource = match resource.strip_suffix("Output") {
        Some(stem) if cloud_formation != "AWS::MediaConnect::FlowOutput" => format!("{stem}OutputResource"),
        _ => resource.to_owned(),
    };
    Some(format!("{PACKAGE}:{module}:{}", with_plain_acronyms(&resource)))
}

/// The property name for a CloudFormation one: `VPCId` is `vpcId`.
pub(super) fn property_name(cloud_formation: &str) -> String {
    let mut name = with_plain_acronyms(cloud_formation);
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    name
}

/// Acronyms with one capital: `DBInstance` is `DbInstance`. Digits count as capitals. The last capital of a run begins the
/// next word, unless the name ends there or a plural `s` follows.
fn with_plain_acronyms(name: &str) -> String {
    let mut bytes = name.as_bytes().to_vec();
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|byte| is_capital(**byte)).count();
        if run < 2 {
            at += run.max(1);
            continue;
        }
        let end = at + run;
        let plural = bytes.get(end) == Some(&b's') && bytes.get(end + 1).is_none_or(|next| is_capital(*next));
        let last = if end == bytes.len() || plural { end } else { end - 1 };
        bytes[at + 1..last].make_ascii_lowercase();
        at = end;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_as_the_package_names_them() {
        for (cloud_formation, expected) in [
            ("AWS::S3::Bucket", "aws-native:s3:Bucket"),
            ("AWS::EC2::VPC", "aws-native:ec2:Vpc"),
            ("AWS::EC2::DHCPOptions", "aws-native:ec2:DhcpOptions"),
            ("AWS::RDS::DBInstance", "aws-native:rds:DbInstance"),
            ("AWS::Config::ConfigRule", "aws-native:configuration:ConfigRule"),
            ("AWS::MediaLive::FlowOutput", "aws-native:medialive:FlowOutputResource"),
            ("AWS::MediaConnect::FlowOutput", "aws-native:mediaconnect:FlowOutput"),
            ("AWS::EC2::VPCCidrBlock", "aws-native:ec2:VpcCidrBlock"),
        ] {
            assert_eq!(type_token(cloud_formation).as_deref(), Some(expected), "{cloud_formation}");
        }
    }

    #[test]
    fn what_the_package_does_not_serve_has_no_type() {
        for other in [
            "AWS::CDK::Metadata",
            "AWS::CloudFormation::Stack",
            "Custom::Thing",
            "Acme::A::B",
            "AWS::A::B::MODULE",
            "",
            "AWS::A::",
        ] {
            assert_eq!(type_token(other), None, "{other}");
        }
    }

    #[test]
    fn properties_are_named_as_the_package_names_them() {
        for (cloud_formation, expected) in [
            ("BucketName", "bucketName"),
            ("VPCId", "vpcId"),
            ("SecurityGroupARNs", "securityGroupArns"),
            ("Ipv6CidrBlock", "ipv6CidrBlock"),
            ("KMSMasterKeyID", "kmsMasterKeyId"),
            ("URL", "url"),
            ("", ""),
            ("Ünder", "Ünder"),
        ] {
            assert_eq!(property_name(cloud_formation), expected);
        }
    }
}
